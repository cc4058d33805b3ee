// Which place an outcome of the noise is reported as: the one that costs least, given the prior and the noise. This is what takes the time while a
// slider moves, a thousand times for one picture, so people are kept in flat arrays, and those who are near each other for this noise are one.

import type { Costs } from "./costs";
import type { Places } from "./places";
import type { Point } from "./plane";

/** Beyond so many 1/e from the nearest one nobody is likely enough to matter, */
const REACH = 6;
/** and neither is who is so much less likely than another. */
const NEGLIGIBLE = 1e-3;
/** People within squares of this side, in 1/e, stand together where costs are straight distances. */
const TOGETHER = 0.3;
/** Who is asked whether they would be a better report: neighbours up to so many spacings. */
const NEIGHBOURS = { straight: 1.5, travel: 2.3 };

/** exp(-x) by a table, to 3e-5: there are millions of them. */
const FINE = 64;
const FALLING = Float64Array.from({ length: 32 * FINE }, (_, n) => Math.exp(-n / FINE));
function falling(x: number): number {
  const at = x * FINE;
  const low = at | 0;
  if (low >= FALLING.length - 1) return 0;
  return FALLING[low] + (at - low) * (FALLING[low + 1] - FALLING[low]);
}

/** People, from south to north. */
interface People {
  x: Float64Array;
  y: Float64Array;
  weight: Float64Array;
  /** The place of each, where each is one. */
  place: Int32Array;
}

export class Reports {
  readonly #people: People;
  /** Who may matter for the square at hand: places where costs are travel, else people. */
  readonly #who: Int32Array;
  readonly #likely: Float64Array;

  constructor(
    /** e, per kilometre. */
    readonly rate: number,
    readonly places: Places,
    readonly costs: Costs,
  ) {
    this.#people = together(places, costs.isExact ? 0 : TOGETHER / rate);
    this.#who = new Int32Array(this.#people.x.length);
    this.#likely = new Float64Array(this.#people.x.length);
  }

  /**
   * The best report of a point, from neighbour to neighbour as long as it costs less. Straight distances fall
   * from anywhere, so it begins with what one beside it is reported as; travel has dents in which one would stay, square after square: there it is the middle of the people.
   */
  best(point: Point, beside: number): number {
    const { costs, places } = this;
    const count = this.#gather(point, places.away(beside, point) + REACH / this.rate);
    if (count === 0) return beside;
    const reach = (costs.isExact ? NEIGHBOURS.travel : NEIGHBOURS.straight) * places.spacingKm;
    let best = costs.isExact ? places.nearest(this.#middle(count)) : beside;
    let least = this.#cost(best, count);
    for (let improved = true; improved; ) {
      improved = false;
      const around = places.neighbours(best, reach);
      for (let n = 0; n < around.length; n++) {
        const cost = this.#cost(around[n], count);
        if (cost >= least) continue;
        best = around[n];
        least = cost;
        improved = true;
      }
    }
    return best;
  }

  /** Writes down who may have been at a point's noise, and how likely; says how many. */
  #gather([px, py]: Point, reach: number): number {
    const { x, y, weight, place } = this.#people;
    const { rate, costs } = this;
    const who = this.#who;
    const likely = this.#likely;
    let count = 0;
    let most = 0;
    for (let at = firstFrom(y, py - reach); at < y.length && y[at] <= py + reach; at++) {
      const dx = x[at] - px;
      const dy = y[at] - py;
      const square = dx * dx + dy * dy;
      if (square > reach * reach) continue;
      const value = weight[at] * falling(rate * Math.sqrt(square));
      who[count] = costs.isExact ? place[at] : at;
      likely[count++] = value;
      if (value > most) most = value;
    }
    let kept = 0;
    for (let n = 0; n < count; n++) {
      if (likely[n] <= NEGLIGIBLE * most) continue;
      who[kept] = who[n];
      likely[kept++] = likely[n];
    }
    return kept;
  }

  /** Where those who may have been there are on average. */
  #middle(count: number): Point {
    let [sum, x, y] = [0, 0, 0];
    for (let n = 0; n < count; n++) {
      sum += this.#likely[n];
      x += this.#likely[n] * this.places.x[this.#who[n]];
      y += this.#likely[n] * this.places.y[this.#who[n]];
    }
    return [x / sum, y / sum];
  }

  /** What it costs them if `k` is reported, up to a factor. */
  #cost(k: number, count: number): number {
    const who = this.#who;
    const likely = this.#likely;
    let sum = 0;
    if (this.costs.isExact) {
      const losses = this.costs.row(k);
      for (let n = 0; n < count; n++) sum += likely[n] * losses[who[n]];
      return sum;
    }
    const kx = this.places.x[k];
    const ky = this.places.y[k];
    const { x, y } = this.#people;
    for (let n = 0; n < count; n++) {
      const dx = x[who[n]] - kx;
      const dy = y[who[n]] - ky;
      sum += likely[n] * Math.sqrt(dx * dx + dy * dy);
    }
    return sum;
  }
}

/** People of squares of a side are one, in their middle; each place by itself where the side is smaller than its cell. */
function together(places: Places, sideKm: number): People {
  const squares = new Map<string | number, { weight: number; x: number; y: number; place: number }>();
  const isOne = sideKm <= places.spacingKm;
  for (let i = 0; i < places.count; i++) {
    const [weight, x, y] = [places.prior[i], places.x[i], places.y[i]];
    if (weight <= 0) continue;
    const key = isOne ? i : `${Math.floor(x / sideKm)} ${Math.floor(y / sideKm)}`;
    const known = squares.get(key);
    if (known) {
      known.weight += weight;
      known.x += weight * x;
      known.y += weight * y;
    } else squares.set(key, { weight, x: weight * x, y: weight * y, place: i });
  }
  const people = [...squares.values()].map(({ weight, x, y, place }) => ({ weight, x: x / weight, y: y / weight, place })).sort((a, b) => a.y - b.y);
  const column = (of: (one: (typeof people)[number]) => number) => Float64Array.from(people, of);
  return { x: column((one) => one.x), y: column((one) => one.y), weight: column((one) => one.weight), place: Int32Array.from(people, (one) => one.place) };
}

/** The first of ascending numbers that is not below a limit. */
function firstFrom(numbers: Float64Array, limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
