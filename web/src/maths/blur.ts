// What somebody reports, whichever mechanism makes it.

import type { Costs } from "./costs";
import type { Places } from "./places";
import type { Point } from "./plane";

export interface Blur {
  /** The reports of somebody at a point, over all places. */
  row(point: Point): Float64Array;
  /** The row of a place, for sums over the whole map. */
  nearRow(place: number, row: Float64Array): void;
  /** How likely a report is from each place, up to a factor. */
  column(report: number): Float64Array;
}

/** The exponential mechanism on places: exp(-eps d / 2) over its sum. */
export class ExponentialBlur implements Blur {
  #sums: Float64Array | null = null;

  constructor(
    readonly epsilon: number,
    readonly places: Places,
  ) {}

  row(point: Point): Float64Array {
    const row = new Float64Array(this.places.count);
    this.nearRow(this.places.nearest(point), row);
    return row;
  }

  nearRow(place: number, row: Float64Array): void {
    let total = 0;
    for (let k = 0; k < row.length; k++) total += row[k] = Math.exp((-this.epsilon / 2) * this.places.between(place, k));
    for (let k = 0; k < row.length; k++) row[k] /= total;
  }

  column(report: number): Float64Array {
    const { places, epsilon } = this;
    if (!this.#sums) {
      this.#sums = new Float64Array(places.count);
      for (let i = 0; i < places.count; i++) for (let k = 0; k < places.count; k++) this.#sums[i] += Math.exp((-epsilon / 2) * places.between(i, k));
    }
    const sums = this.#sums;
    return Float64Array.from(sums, (sum, i) => Math.exp((-epsilon / 2) * places.between(i, report)) / sum);
  }
}

/** Rows that were published in tiles. */
export class PublishedBlur implements Blur {
  constructor(
    readonly rows: Map<number, Float64Array>,
    readonly places: Places,
  ) {}

  row(point: Point): Float64Array {
    return this.rows.get(this.places.nearest(point)) ?? new Float64Array(this.places.count);
  }

  nearRow(place: number, row: Float64Array): void {
    const known = this.rows.get(place);
    if (known) row.set(known);
    else row.fill(0);
  }

  column(report: number): Float64Array {
    return Float64Array.from({ length: this.places.count }, (_, i) => this.rows.get(i)?.[report] ?? 0);
  }
}

/**
 * Mode `local`: everybody solves a programme of their own. Rows that were solved here are exact. For others' an attacker would have to solve as many programmes:
 * what is tied to the public y is known without, and for the free entries the published optimum stands in, which has the same costs and nearly the same promise.
 */
export class LocalBlur implements Blur {
  constructor(
    readonly solved: Map<number, Float64Array>,
    readonly published: Map<number, Float64Array>,
    readonly places: Places,
    readonly ties: { y: ArrayLike<number>; epsilon: number; freeKm: number; rangeKm: number },
  ) {}

  row(point: Point): Float64Array {
    const row = new Float64Array(this.places.count);
    this.nearRow(this.places.nearest(point), row);
    return row;
  }

  nearRow(place: number, row: Float64Array): void {
    const known = this.solved.get(place);
    if (known) row.set(known);
    else for (let k = 0; k < row.length; k++) row[k] = this.#likely(place, k);
  }

  column(report: number): Float64Array {
    return Float64Array.from({ length: this.places.count }, (_, i) => this.solved.get(i)?.[report] ?? this.#likely(i, report));
  }

  #likely(place: number, report: number): number {
    const { y, epsilon, freeKm, rangeKm } = this.ties;
    const km = this.places.between(place, report);
    const free = km <= freeKm ? this.published.get(place)?.[report] : undefined;
    return free ?? y[report] * Math.exp((-epsilon / 2) * Math.min(km, rangeKm));
  }
}

/** What one row means for the one who draws from it. */
export interface RowFacts {
  /** 95 % of the reports are at most this far away. */
  error95Km: number;
  /** By so much the service misjudges ways, on average; null where travel is not known. */
  costKm: number | null;
  /** On average a report is so far away. */
  meanKm: number;
}

export function rowFacts(row: Float64Array, point: Point, places: Places, costs: Costs): RowFacts {
  const order = byDistance(row, point, places);
  let sum = 0;
  let mean = 0;
  let error = 0;
  for (const k of order) {
    const away = places.away(k, point);
    mean += row[k] * away;
    if (sum < 0.95) error = away;
    sum += row[k];
  }
  let cost: number | null = null;
  if (costs.isKnown) {
    const losses = costs.row(places.nearest(point));
    cost = 0;
    for (let k = 0; k < row.length; k++) cost += row[k] * losses[k];
  }
  return { error95Km: error, costKm: cost, meanKm: mean };
}

/** The places that are ever reported, nearest first. */
export function byDistance(row: Float64Array, point: Point, places: Places): number[] {
  const order: number[] = [];
  for (let k = 0; k < row.length; k++) if (row[k] > 0) order.push(k);
  return order.sort((a, b) => places.away(a, point) - places.away(b, point));
}

/** The report that a number between 0 and 1 stands for, nearest first: the same number goes farther out as the blur grows. */
export function reportAt(unit: number, row: Float64Array, point: Point, places: Places): number {
  const order = byDistance(row, point, places);
  let left = unit * order.reduce((sum, k) => sum + row[k], 0);
  for (const k of order) {
    left -= row[k];
    if (left <= 0) return k;
  }
  return order[order.length - 1] ?? 0;
}

/** What an attacker knows from a report who knows mechanism and prior: p_i z_ik, adding up to one. */
export function posterior(likelihood: Float64Array, prior: Float64Array): Float64Array {
  const out = new Float64Array(prior.length);
  let total = 0;
  for (let i = 0; i < out.length; i++) total += out[i] = likelihood[i] * prior[i];
  if (total > 0) for (let i = 0; i < out.length; i++) out[i] /= total;
  return out;
}

/** The radius around a place that holds 95 % of a distribution. */
export function holdingRadiusKm(distribution: Float64Array, around: number, places: Places): number {
  const order = byDistance(distribution, places.point(around), places);
  let sum = 0;
  for (const i of order) {
    sum += distribution[i];
    if (sum >= 0.95) return places.between(around, i);
  }
  return order.length ? places.between(around, order[order.length - 1]) : 0;
}

/** What a mechanism means for the whole city. */
export interface Overview {
  /** A report misjudges ways by so much, on average over all people; null where travel is not known. */
  costKm: number | null;
  /** An attacker who knows mechanism and prior names the right place so often. */
  guessed: number;
  /** And so often without a report. */
  blind: number;
  /** Nearest to how far off the report is on average. */
  meanKm: number;
}

/** Goes through all rows; gives up (null) as soon as `isStale` says so, which is asked every few milliseconds. */
export async function overview(blur: Blur, places: Places, costs: Costs, isStale: () => Promise<boolean>): Promise<Overview | null> {
  const best = new Float64Array(places.count);
  const row = new Float64Array(places.count);
  const counted = new Map<number, number>();
  for (const { place, weight } of costs.people) counted.set(place, (counted.get(place) ?? 0) + weight);
  let cost = 0;
  let mean = 0;
  let since = performance.now();
  for (let i = 0; i < places.count; i++) {
    blur.nearRow(i, row);
    const p = places.prior[i];
    for (let k = 0; k < row.length; k++) if (p * row[k] > best[k]) best[k] = p * row[k];
    const weight = counted.get(i);
    if (weight) {
      const losses = costs.row(i);
      let [sum, far] = [0, 0];
      for (let k = 0; k < row.length; k++) {
        if (row[k] === 0) continue;
        sum += row[k] * losses[k];
        far += row[k] * places.between(i, k);
      }
      cost += weight * sum;
      mean += weight * far;
    }
    if (performance.now() - since > 6) {
      if (await isStale()) return null;
      since = performance.now();
    }
  }
  return { costKm: costs.isKnown ? cost : null, guessed: best.reduce((a, b) => a + b, 0), blind: Math.max(...places.prior), meanKm: mean };
}
