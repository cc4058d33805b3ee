// One map: streets drawn by MapLibre, and above them a canvas with everything that moves. Cells, rings and lines are drawn there in a
// millisecond or two, so that a slider and a map that is dragged stay smooth.

import * as maplibre from "maplibre-gl";
import workerUrl from "maplibre-gl/dist/maplibre-gl-worker.mjs?url";

import type { Index, Streets } from "../data";
import type { LatLon } from "../maths/plane";
import { INK, STREETS, currentTheme, ramp, step, type Ramp } from "./colours";

maplibre.setWorkerUrl(new URL(workerUrl, location.href).href);

export interface Scene {
  /** A distribution over the places. */
  heat?: { values: ArrayLike<number>; ramp: Ramp } | null;
  person?: LatLon | null;
  /** The place that was reported. */
  report?: number | null;
  /** The place that an attacker takes for the likeliest. */
  guess?: number | null;
  ring?: { around: LatLon; km: number; text: string } | null;
  circles?: { around: LatLon; km: number; text: string }[];
  /** Places whose entries are free, and those whose entries are tied. */
  entries?: { free: number[]; tied: number[] };
  /** Places to be outlined. */
  outlined?: number[];
  /** Numbered people. */
  people?: { at: LatLon; text: string; chosen: boolean }[];
  trail?: LatLon[];
}

const mercator = ({ lat, lon }: LatLon): [number, number] => [(lon + 180) / 360, (1 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / Math.PI) / 2];

/** Around the city, in pixels. */
const PADDING = 24;

export class Pane {
  readonly element: HTMLElement;
  readonly map: maplibre.Map;
  readonly #canvas = document.createElement("canvas");
  #scene: Scene = {};
  #cells: { x: Float64Array; y: Float64Array; half: Float64Array; coords: LatLon[] } | null = null;
  #ramps: Record<Ramp, string[]>;
  #tips: maplibre.Marker[] = [];
  onpick: ((at: LatLon) => void) | null = null;
  onhover: ((place: number | null, x: number, y: number) => void) | null = null;
  readonly #streets: Streets;
  #isPrinted = false;
  readonly #bounds: [number, number, number, number];
  /** Somebody has chosen what part of the map to see. */
  #isChosen = false;

  constructor(element: HTMLElement, index: Index, streets: Streets, label: string) {
    this.element = element;
    this.#ramps = ramps();
    const colours = STREETS[currentTheme()];
    const [south, west, north, east] = index.bounds;
    this.#bounds = [west, south, east, north];
    this.#streets = streets;
    const lines = [0, 1, 2].map((width) => ({
      type: "Feature" as const,
      properties: { width },
      geometry: { type: "MultiLineString" as const, coordinates: streets.lines.filter((line) => line.class === width).map((line) => line.points) },
    }));
    const margin = [0.6 * (east - west), 0.6 * (north - south)];
    this.map = new maplibre.Map({
      container: element,
      style: {
        version: 8,
        sources: { streets: { type: "geojson", data: { type: "FeatureCollection", features: lines }, tolerance: 0.6, maxzoom: 14 } },
        layers: [
          { id: "ground", type: "background", paint: { "background-color": colours.ground } },
          ...[0, 1, 2].map((width) => ({
            id: `streets-${width}`,
            type: "line" as const,
            source: "streets",
            filter: ["==", ["get", "width"], width] as maplibre.FilterSpecification,
            layout: { "line-cap": "round" as const, "line-join": "round" as const },
            paint: { "line-color": colours.street[width], "line-width": ["interpolate", ["exponential", 1.5], ["zoom"], 9, 0.3 + 0.5 * width, 13, 1 + 0.9 * width, 17, 6 + 4 * width] as maplibre.ExpressionSpecification },
          })),
        ],
      },
      bounds: this.#bounds,
      fitBoundsOptions: { padding: PADDING },
      maxBounds: [west - margin[0], south - margin[1], east + margin[0], north + margin[1]],
      attributionControl: false,
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      maxPitch: 0,
      fadeDuration: 0,
      canvasContextAttributes: { preserveDrawingBuffer: true },
      locale: { "Map.Title": label },
    });
    this.map.touchZoomRotate.disableRotation();
    this.map.keyboard.disableRotation();
    this.map.addControl(new maplibre.NavigationControl({ showCompass: false }), "top-right");
    this.map.addControl(new maplibre.ScaleControl({ unit: "metric" }), "bottom-left");
    this.#canvas.className = "overlay";
    this.#canvas.setAttribute("aria-hidden", "true");
    this.map.getCanvasContainer().append(this.#canvas);
    this.map.getCanvas().setAttribute("aria-label", `${label}. Arrow keys move the map, plus and minus zoom, Enter puts the person in its middle.`);
    this.map.on("movestart", (event) => (this.#isChosen ||= "originalEvent" in event && event.originalEvent !== undefined));
    this.map.on("move", () => this.draw());
    this.map.on("resize", () => this.#resize());
    this.map.on("load", () => this.repaint());
    this.map.on("click", (event) => this.onpick?.({ lat: event.lngLat.lat, lon: event.lngLat.lng }));
    this.map.on("mousemove", (event) => this.onhover?.(this.#cellAt(event.point.x, event.point.y), event.point.x, event.point.y));
    this.map.on("mouseout", () => this.onhover?.(null, 0, 0));
    this.map.getCanvas().addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      const { lat, lng } = this.map.getCenter();
      this.onpick?.({ lat, lon: lng });
    });
    for (const { name, at } of index.landmarks) {
      const text = document.createElement("span");
      text.className = "landmark";
      text.textContent = name;
      this.#tips.push(new maplibre.Marker({ element: text, anchor: "left", offset: [6, 0] }).setLngLat([at[1], at[0]]).addTo(this.map));
    }
    this.map.on("zoom", () => this.#thinLabels());
    this.map.once("idle", () => this.#thinLabels());
    this.#resize();
  }

  /** The cells that distributions are drawn on. */
  setPlaces(lat: Float64Array, lon: Float64Array, cellKm: number): void {
    const count = lat.length;
    const [x, y, half] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
    const coords: LatLon[] = [];
    for (let i = 0; i < count; i++) {
      coords.push({ lat: lat[i], lon: lon[i] });
      [x[i], y[i]] = mercator(coords[i]);
      half[i] = cellKm / 2 / (40075.017 * Math.cos((lat[i] * Math.PI) / 180));
    }
    this.#cells = { x, y, half, coords };
    this.draw();
  }

  show(scene: Scene): void {
    this.#scene = scene;
    this.draw();
  }

  /** The room has changed: the whole city again, unless somebody has chosen a part of it. */
  refit(isForced = false): void {
    this.map.resize();
    this.#resize();
    if (isForced || !this.#isChosen) this.map.fitBounds(this.#bounds, { padding: PADDING, duration: 0 });
  }

  /** For paper everything is drawn on the canvas at once, streets too: MapLibre would fetch them in its own time. */
  print(isPrinted: boolean): void {
    this.#isPrinted = isPrinted;
    this.refit(isPrinted);
    this.repaint();
  }

  /** Colours anew: the theme has changed. */
  repaint(): void {
    const colours = STREETS[currentTheme()];
    this.#ramps = ramps();
    if (this.map.getLayer("ground")) {
      this.map.setPaintProperty("ground", "background-color", colours.ground);
      colours.street.forEach((colour, width) => this.map.setPaintProperty(`streets-${width}`, "line-color", colour));
    }
    this.draw();
  }

  /** Follows another map, and the other way round. */
  link(other: Pane): void {
    let isFollowing = false;
    const follow = (from: Pane, to: Pane) =>
      from.map.on("move", () => {
        if (isFollowing || to.element.hidden || from.element.hidden) return;
        isFollowing = true;
        to.map.jumpTo({ center: from.map.getCenter(), zoom: from.map.getZoom() });
        isFollowing = false;
      });
    follow(this, other);
    follow(other, this);
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    const dense = Math.min(2, devicePixelRatio || 1);
    [this.#canvas.width, this.#canvas.height] = [width * dense, height * dense];
    [this.#canvas.style.width, this.#canvas.style.height] = [`${width}px`, `${height}px`];
    this.draw();
  }

  /** From mercator to pixels: the map is never turned or tilted. */
  #frame(): { size: number; left: number; top: number } {
    const { lng, lat } = this.map.getCenter();
    const size = 512 * 2 ** this.map.getZoom();
    const [x, y] = mercator({ lat, lon: lng });
    return { size, left: this.element.clientWidth / 2 - x * size, top: this.element.clientHeight / 2 - y * size };
  }

  #cellAt(px: number, py: number): number | null {
    if (!this.#cells) return null;
    const { size, left, top } = this.#frame();
    const [mx, my] = [(px - left) / size, (py - top) / size];
    const { x, y, half } = this.#cells;
    for (let i = 0; i < x.length; i++) if (Math.abs(x[i] - mx) <= half[i] && Math.abs(y[i] - my) <= half[i]) return i;
    return null;
  }

  /** Labels that would lie on others are left out, the first ones stay. */
  #thinLabels(): void {
    const taken: DOMRect[] = [];
    for (const tip of this.#tips) {
      const element = tip.getElement();
      element.hidden = false;
      const box = element.getBoundingClientRect();
      const clashes = taken.some((other) => box.left < other.right + 4 && box.right > other.left - 4 && box.top < other.bottom + 2 && box.bottom > other.top - 2);
      element.hidden = clashes;
      if (!clashes) taken.push(box);
    }
  }

  #drawStreets(context: CanvasRenderingContext2D, pixel: (at: LatLon) => [number, number]): void {
    STREETS.light.street.forEach((colour, width) => {
      context.strokeStyle = colour;
      context.lineWidth = 0.5 + 0.6 * width;
      context.beginPath();
      for (const line of this.#streets.lines) {
        if (line.class === width) line.points.forEach(([lon, lat], i) => context[i ? "lineTo" : "moveTo"](...pixel({ lat, lon })));
      }
      context.stroke();
    });
  }

  draw(): void {
    const context = this.#canvas.getContext("2d");
    if (!context) return;
    const dense = this.#canvas.width / Math.max(1, this.element.clientWidth);
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, this.element.clientWidth, this.element.clientHeight);
    const { size, left, top } = this.#frame();
    const ink = INK[currentTheme()];
    const pixel = (at: LatLon): [number, number] => {
      const [x, y] = mercator(at);
      return [x * size + left, y * size + top];
    };
    if (this.#isPrinted) this.#drawStreets(context, pixel);
    const { heat, person, report, guess, ring, circles, outlined, people, trail, entries } = this.#scene;
    const cells = this.#cells;
    if (heat && cells) {
      const colours = this.#ramps[heat.ramp];
      for (let i = 0; i < cells.x.length; i++) {
        const at = step(heat.values[i]);
        if (at < 0) continue;
        const side = 2 * cells.half[i] * size;
        const gap = Math.min(1, side / 12);
        context.fillStyle = colours[at];
        context.fillRect(cells.x[i] * size + left - side / 2 + gap / 2, cells.y[i] * size + top - side / 2 + gap / 2, side - gap, side - gap);
      }
    }
    if (entries && cells) {
      for (const kind of ["free", "tied"] as const) {
        context.fillStyle = ink[kind];
        for (const i of entries[kind]) {
          const side = 2 * cells.half[i] * size;
          context.fillRect(cells.x[i] * size + left - side / 2 + 0.5, cells.y[i] * size + top - side / 2 + 0.5, side - 1, side - 1);
        }
      }
    }
    if (outlined && cells) {
      context.strokeStyle = ink.set;
      context.lineWidth = 1.5;
      for (const i of outlined) {
        const side = 2 * cells.half[i] * size - 4;
        if (side > 2) context.strokeRect(cells.x[i] * size + left - side / 2, cells.y[i] * size + top - side / 2, side, side);
      }
    }
    const circle = (around: LatLon, km: number, text: string, dash: number[], colour: string) => {
      const [x, y] = pixel(around);
      const radius = (km / (40075.017 * Math.cos((around.lat * Math.PI) / 180))) * size;
      context.strokeStyle = colour;
      context.setLineDash(dash);
      context.lineWidth = 1.75;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.stroke();
      context.setLineDash([]);
      // Above the circle, below it, or nowhere: wherever that can be seen.
      const beside = [y - radius - 9, y + radius + 11].find((at) => at > 12 && at < this.element.clientHeight - 12);
      if (beside !== undefined) this.#label(context, text, x, beside, colour);
    };
    for (const { around, km, text } of circles ?? []) circle(around, km, text, [3, 5], ink.muted);
    if (ring) circle(ring.around, ring.km, ring.text, [8, 5], ink.ring);
    if (trail && trail.length > 1) {
      context.strokeStyle = ink.person;
      context.lineWidth = 2.5;
      context.lineJoin = "round";
      context.beginPath();
      trail.forEach((at, i) => context[i ? "lineTo" : "moveTo"](...pixel(at)));
      context.stroke();
    }
    const reported = report != null && cells ? cells.coords[report] : null;
    if (person && reported) {
      context.strokeStyle = ink.line;
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(...pixel(person));
      context.lineTo(...pixel(reported));
      context.stroke();
    }
    if (guess != null && cells) {
      const [x, y] = pixel(cells.coords[guess]);
      context.strokeStyle = ink.guess;
      context.lineWidth = 2.5;
      context.beginPath();
      for (const [dx, dy] of [[1, 1], [1, -1]]) {
        context.moveTo(x - 7 * dx, y - 7 * dy);
        context.lineTo(x + 7 * dx, y + 7 * dy);
      }
      context.stroke();
    }
    if (reported) {
      const [x, y] = pixel(reported);
      context.fillStyle = ink.report;
      context.strokeStyle = ink.personRim;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(x, y - 9);
      context.lineTo(x + 9, y);
      context.lineTo(x, y + 9);
      context.lineTo(x - 9, y);
      context.closePath();
      context.fill();
      context.stroke();
    }
    if (person) {
      const [x, y] = pixel(person);
      context.fillStyle = ink.person;
      context.strokeStyle = ink.personRim;
      context.lineWidth = 2.5;
      context.beginPath();
      context.arc(x, y, 8, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
    for (const { at, text, chosen } of people ?? []) {
      const [x, y] = pixel(at);
      context.fillStyle = chosen ? ink.person : ink.muted;
      context.strokeStyle = ink.personRim;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(x, y, 10, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      context.fillStyle = ink.personRim;
      context.font = "600 12px system-ui, sans-serif";
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillText(text, x, y + 0.5);
    }
  }

  #label(context: CanvasRenderingContext2D, text: string, x: number, y: number, colour: string): void {
    context.font = "600 12px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 4;
    context.lineJoin = "round";
    context.strokeStyle = STREETS[currentTheme()].ground;
    context.strokeText(text, x, y);
    context.fillStyle = colour;
    context.fillText(text, x, y);
  }
}

const ramps = (): Record<Ramp, string[]> => ({ blur: ramp(currentTheme(), "blur"), attacker: ramp(currentTheme(), "attacker") });
