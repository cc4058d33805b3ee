// The plane that noise lives in: stereographic around the middle of the map, as in crates/tiles/src/plane.rs.

export type Point = [number, number];
export interface LatLon {
  lat: number;
  lon: number;
}

const EARTH_RADIUS_KM = 6371.0088;
const radians = (degrees: number) => (degrees * Math.PI) / 180;
type Vector = [number, number, number];

function onSphere({ lat, lon }: LatLon): Vector {
  const [a, b] = [radians(lat), radians(lon)];
  return [Math.cos(a) * Math.cos(b), Math.cos(a) * Math.sin(b), Math.sin(a)];
}
const dot = (a: Vector, b: Vector) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Vector, b: Vector): Vector => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

export class Plane {
  readonly #centre: Vector;
  readonly #east: Vector;
  readonly #north: Vector;

  constructor(centre: LatLon) {
    this.#centre = onSphere(centre);
    const axis: Vector = Math.abs(this.#centre[2]) < 0.99 ? [0, 0, 1] : [1, 0, 0];
    const east = cross(axis, this.#centre);
    const length = Math.sqrt(dot(east, east));
    this.#east = [east[0] / length, east[1] / length, east[2] / length];
    this.#north = cross(this.#centre, this.#east);
  }

  /** Where a coordinate is, in kilometres; rounded to whole steps of 1e-7 degrees as phones do. */
  project({ lat, lon }: LatLon): Point {
    const v = onSphere({ lat: Math.round(lat * 1e7) / 1e7, lon: Math.round(lon * 1e7) / 1e7 });
    const scale = (2 * EARTH_RADIUS_KM) / (1 + dot(v, this.#centre));
    return [scale * dot(v, this.#east), scale * dot(v, this.#north)];
  }

  /** The coordinate at a point. */
  at([x, y]: Point): LatLon {
    const [a, b] = [x / (2 * EARTH_RADIUS_KM), y / (2 * EARTH_RADIUS_KM)];
    const t2 = a * a + b * b;
    const v = [0, 1, 2].map((i) => (2 * a * this.#east[i] + 2 * b * this.#north[i] + (1 - t2) * this.#centre[i]) / (1 + t2)) as Vector;
    return { lat: (Math.asin(Math.max(-1, Math.min(1, v[2]))) * 180) / Math.PI, lon: (Math.atan2(v[1], v[0]) * 180) / Math.PI };
  }
}
