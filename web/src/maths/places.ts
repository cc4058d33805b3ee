// All places of the map in the plane, and which of them are near a point.

import { Plane, type LatLon, type Point } from "./plane";

export class Places {
  readonly count: number;
  readonly plane: Plane;
  /** In kilometres. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Adds up to one. */
  readonly prior: Float64Array;
  readonly #side: number;
  readonly #buckets = new Map<number, number[]>();
  #around: { km: number; lists: Int32Array[] } = { km: 0, lists: [] };

  constructor(
    readonly lat: Float64Array,
    readonly lon: Float64Array,
    prior: Float64Array,
    readonly spacingKm: number,
    centre: LatLon,
  ) {
    this.count = lat.length;
    this.plane = new Plane(centre);
    this.x = new Float64Array(this.count);
    this.y = new Float64Array(this.count);
    const total = prior.reduce((a, b) => a + b, 0);
    // Priors that are zero everywhere count as even, as everywhere else in lrgeo.
    this.prior = prior.map((p) => (total > 0 ? p / total : 1 / this.count));
    this.#side = Math.max(spacingKm, 1e-3);
    for (let i = 0; i < this.count; i++) {
      [this.x[i], this.y[i]] = this.plane.project({ lat: lat[i], lon: lon[i] });
      const bucket = this.#bucket(Math.floor(this.x[i] / this.#side), Math.floor(this.y[i] / this.#side));
      const known = this.#buckets.get(bucket);
      if (known) known.push(i);
      else this.#buckets.set(bucket, [i]);
    }
  }

  #bucket(column: number, row: number): number {
    return (row + 32768) * 65536 + column + 32768;
  }

  point(place: number): Point {
    return [this.x[place], this.y[place]];
  }

  coordinate(place: number): LatLon {
    return { lat: this.lat[place], lon: this.lon[place] };
  }

  away(place: number, [x, y]: Point): number {
    const dx = this.x[place] - x;
    const dy = this.y[place] - y;
    return Math.sqrt(dx * dx + dy * dy);
  }

  between(i: number, k: number): number {
    const dx = this.x[i] - this.x[k];
    const dy = this.y[i] - this.y[k];
    return Math.sqrt(dx * dx + dy * dy);
  }

  /** The places within a distance. */
  within(point: Point, km: number): number[] {
    const [x, y] = point;
    const side = this.#side;
    const found: number[] = [];
    if ((km / side) ** 2 * 4 > this.count) {
      for (let i = 0; i < this.count; i++) if (this.away(i, point) <= km) found.push(i);
      return found;
    }
    for (let row = Math.floor((y - km) / side); row <= Math.floor((y + km) / side); row++) {
      for (let column = Math.floor((x - km) / side); column <= Math.floor((x + km) / side); column++) {
        for (const i of this.#buckets.get(this.#bucket(column, row)) ?? []) {
          if (this.away(i, point) <= km) found.push(i);
        }
      }
    }
    return found;
  }

  /** The places around one, without itself, nearest first; those of one distance are remembered. */
  neighbours(place: number, km: number): Int32Array {
    if (this.#around.km !== km) this.#around = { km, lists: [] };
    return (this.#around.lists[place] ??= Int32Array.from(this.within(this.point(place), km).filter((k) => k !== place).sort((a, b) => this.between(place, a) - this.between(place, b))));
  }

  /** The nearest place. */
  nearest(point: Point): number {
    for (let km = this.spacingKm; km < 64 * this.spacingKm; km *= 2) {
      const near = this.within(point, km);
      if (near.length) return near.reduce((a, b) => (this.away(b, point) < this.away(a, point) ? b : a));
    }
    let best = 0;
    for (let i = 1; i < this.count; i++) if (this.away(i, point) < this.away(best, point)) best = i;
    return best;
  }
}
