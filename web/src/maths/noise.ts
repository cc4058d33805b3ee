// Laplace noise for coordinates: outcomes are points of a fine lattice, squares of 4 x 4 of them share a report (docs/coordinates.md).
// `crates/tiles/src/coordinates.rs` is the original; a test compares rows with it.

import type { Blur } from "./blur";
import type { Costs } from "./costs";
import type { Places } from "./places";
import type { Point } from "./plane";
import { Reports } from "./reports";

const GRAIN_KM = 1 / 2 ** 24;
const FLOOR = 2 ** -80;
const SIDE = 4;
/** Beyond so many 1/e the kernel is nothing: exp(-14). */
const REACH = 14;
/** For sums over all places, and for rows of an epsilon that is not the server's, what is farther than this is left out: a thousandth. */
const FAR = 9;
/** Over all places squares farther than this count as their middle; what that misses on average is put right. */
const NEAR = 2.5;
const MIDDLE = 1.0104;
const UNKNOWN = 0xffffffff;

export interface Lattice {
  /** e, per kilometre. */
  rate: number;
  /** h and b. */
  spacingKm: number;
  tipKm: number;
  /** The first point, in spacings. */
  first: [number, number];
  /** Columns and rows of squares. */
  squares: [number, number];
  side: number;
  /** The place that each square is reported as. */
  reports: Uint32Array;
}

/** Where people may be: west, south, east, north in the plane. */
export type Area = [number, number, number, number];

/** The lattice that a server would make for another epsilon, its reports still to be found. */
export function latticeFor(epsilon: number, area: Area): Lattice {
  const corner = Math.max(Math.abs(area[0]), Math.abs(area[2])) ** 2 + Math.max(Math.abs(area[1]), Math.abs(area[3])) ** 2;
  const rate = (epsilon * (1 - 1.2e-3)) / (1 + corner / (2 * 6371.0088) ** 2);
  const spacingKm = Math.floor(1 / 8 / rate / GRAIN_KM) * GRAIN_KM;
  const margin = REACH / rate;
  const first: [number, number] = [0, 0];
  const squares: [number, number] = [0, 0];
  for (const axis of [0, 1] as const) {
    const low = Math.floor((area[axis] - margin) / spacingKm);
    const high = Math.ceil((area[axis + 2] + margin) / spacingKm);
    first[axis] = low;
    squares[axis] = Math.ceil((high - low + 1) / SIDE);
  }
  const reports = new Uint32Array(squares[0] * squares[1]).fill(UNKNOWN);
  return { rate, spacingKm, tipKm: spacingKm / 2, first, squares, side: SIDE, reports };
}

export class NoiseBlur implements Blur {
  /** Squares of each report, once somebody asks. */
  #squaresOf: Map<number, number[]> | null = null;
  readonly #isTable: boolean;
  #finder: Reports | null = null;

  constructor(
    readonly lattice: Lattice,
    readonly places: Places,
    readonly costs: Costs,
  ) {
    this.#isTable = lattice.reports.length > 0 && lattice.reports[0] !== UNKNOWN;
  }

  /** The reports of somebody at a point: exact with a table of a server. */
  row(point: Point): Float64Array {
    const { lattice } = this;
    const [columns, rows] = lattice.squares;
    const row = new Float64Array(this.places.count);
    let total = 0;
    const [left, right] = this.#range(point[0], 0, FAR);
    const [low, high] = this.#range(point[1], 1, FAR);
    // The table of a server is summed up whole, as the phone does; of another epsilon only what weighs anything.
    const [c0, c1, r0, r1] = this.#isTable ? [0, columns - 1, 0, rows - 1] : [left, right, low, high];
    for (let r = r0; r <= r1; r++) {
      for (let c = c0; c <= c1; c++) {
        if (!this.#isTable && this.#isFar(point, c, r)) continue;
        const sum = this.#sum(point, c, r);
        row[this.#report(r * columns + c)] += sum;
        total += sum;
      }
    }
    for (let k = 0; k < row.length; k++) if (row[k] > 0) row[k] = row[k] / total + FLOOR;
    return row;
  }

  /** The row of a place, for sums over the map: to a thousandth. */
  nearRow(place: number, row: Float64Array): void {
    row.fill(0);
    const { lattice } = this;
    const point = this.places.point(place);
    const e = lattice.rate;
    const columns = lattice.squares[0];
    const step = lattice.spacingKm * lattice.side;
    const [left, right] = this.#range(point[0], 0, FAR);
    const [low, high] = this.#range(point[1], 1, FAR);
    const cells = lattice.side * lattice.side * MIDDLE;
    let total = 0;
    for (let r = low; r <= high; r++) {
      const dy = this.#middle(1, r) - point[1];
      let dx = this.#middle(0, left) - point[0];
      for (let c = left; c <= right; c++, dx += step) {
        const scaled = e * Math.sqrt(dx * dx + dy * dy);
        if (scaled > FAR) continue;
        const sum = scaled < NEAR ? this.#sum(point, c, r) : cells * Math.exp(-scaled);
        row[this.#report(r * columns + c)] += sum;
        total += sum;
      }
    }
    for (let k = 0; k < row.length; k++) row[k] /= total;
  }

  /** How likely a report is from each place, up to a factor. */
  column(report: number): Float64Array {
    const likely = new Float64Array(this.places.count);
    const { rate, squares } = this.lattice;
    for (const square of this.#squares(report)) {
      const x = this.#middle(0, square % squares[0]);
      const y = this.#middle(1, Math.floor(square / squares[0]));
      for (let i = 0; i < likely.length; i++) {
        const dx = this.places.x[i] - x;
        const dy = this.places.y[i] - y;
        likely[i] += Math.exp(-rate * Math.sqrt(dx * dx + dy * dy));
      }
    }
    return likely;
  }

  #squares(report: number): number[] {
    if (!this.#isTable) return this.#squaresAround(report);
    if (!this.#squaresOf) {
      this.#squaresOf = new Map();
      for (let square = 0; square < this.lattice.reports.length; square++) {
        const known = this.lattice.reports[square];
        const list = this.#squaresOf.get(known);
        if (list) list.push(square);
        else this.#squaresOf.set(known, [square]);
      }
    }
    return this.#squaresOf.get(report) ?? [];
  }

  /** Squares are reported as places that are near: nobody need look at the others. */
  #squaresAround(report: number): number[] {
    const [x, y] = this.places.point(report);
    const reach = 4 + 3 * this.lattice.rate * this.places.spacingKm;
    const [left, right] = this.#range(x, 0, reach);
    const [low, high] = this.#range(y, 1, reach);
    const found: number[] = [];
    for (let r = low; r <= high; r++) {
      for (let c = left; c <= right; c++) {
        const square = r * this.lattice.squares[0] + c;
        if (this.#report(square) === report) found.push(square);
      }
    }
    return found;
  }

  #middle(axis: 0 | 1, at: number): number {
    const { first, side, spacingKm } = this.lattice;
    return (first[axis] + at * side + (side - 1) / 2) * spacingKm;
  }

  /** The squares that reach so many 1/e around a point. */
  #range(at: number, axis: 0 | 1, reach: number): [number, number] {
    const { first, side, spacingKm, squares, rate } = this.lattice;
    const square = (km: number) => Math.floor((km / spacingKm - first[axis]) / side);
    return [Math.max(0, square(at - reach / rate)), Math.min(squares[axis] - 1, square(at + reach / rate))];
  }

  #isFar([x, y]: Point, column: number, row: number): boolean {
    const dx = this.#middle(0, column) - x;
    const dy = this.#middle(1, row) - y;
    return this.lattice.rate ** 2 * (dx * dx + dy * dy) > FAR * FAR;
  }

  /** f over the points of a square. */
  #sum([x, y]: Point, column: number, row: number): number {
    const { first, side, spacingKm: h, tipKm, rate } = this.lattice;
    let sum = 0;
    for (let j = 0; j < side; j++) {
      const dy = (first[1] + row * side + j) * h - y;
      const beside = dy * dy + tipKm * tipKm;
      for (let i = 0; i < side; i++) {
        const dx = (first[0] + column * side + i) * h - x;
        sum += Math.exp(-rate * Math.sqrt(dx * dx + beside));
      }
    }
    return sum;
  }

  #report(square: number): number {
    const { reports, squares } = this.lattice;
    const known = reports[square];
    if (known !== UNKNOWN) return known;
    const [column, row] = [square % squares[0], Math.floor(square / squares[0])];
    const point: Point = [this.#middle(0, column), this.#middle(1, row)];
    // Squares beside each other are reported alike.
    let beside = column > 0 ? reports[square - 1] : UNKNOWN;
    if (beside === UNKNOWN && row > 0) beside = reports[square - squares[0]];
    this.#finder ??= new Reports(this.lattice.rate, this.places, this.costs);
    return (reports[square] = this.#finder.best(point, beside === UNKNOWN ? this.places.nearest(point) : beside));
  }
}
