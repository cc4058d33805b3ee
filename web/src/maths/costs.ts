// What a wrong report costs: the mean error in travel distance to the targets, beta(i, k) = sum_l q_l |tc(i, l) - tc(k, l)| (Eq. 3-5 of the paper).

import type { Places } from "./places";

/** Up to so many places all losses are kept. */
const ALL = 700;
/** Beyond, costs over the map are taken from so many people, drawn evenly from the prior. */
const PEOPLE = 64;

export class Costs {
  #kept: Float32Array[] = [];
  #count = 0;
  readonly isExact: boolean;
  /** Whom costs over the map are averaged over, and what each counts. */
  readonly people: { place: number; weight: number }[];

  constructor(
    readonly places: Places,
    /** Kilometres from place to target, row by row; null where the operator does not show them. */
    readonly travel: Float32Array | null,
    readonly weights: Float64Array,
  ) {
    this.isExact = places.count <= ALL;
    this.people = this.isExact ? [...places.prior].map((weight, place) => ({ place, weight })) : drawn(places.prior);
  }

  get isKnown(): boolean {
    return this.travel !== null;
  }

  /** Losses from one place to all others: by travel, or straight where travel is not known. */
  row(i: number): Float32Array {
    const known = this.#kept[i];
    if (known) return known;
    const { places, travel, weights } = this;
    const row = new Float32Array(places.count);
    const targets = weights.length;
    for (let k = 0; k < places.count; k++) {
      if (!travel) {
        row[k] = places.between(i, k);
        continue;
      }
      let sum = 0;
      for (let l = 0, a = i * targets, b = k * targets; l < targets; l++, a++, b++) sum += weights[l] * Math.abs(travel[a] - travel[b]);
      row[k] = sum;
    }
    if (++this.#count > 2 * ALL) [this.#kept, this.#count] = [[], 1];
    return (this.#kept[i] = row);
  }
}

/** Places at even steps of the prior's sum. */
function drawn(prior: Float64Array): { place: number; weight: number }[] {
  const people = [];
  let sum = 0;
  let next = 0.5;
  for (let place = 0; place < prior.length; place++) {
    sum += prior[place];
    for (; next < sum * PEOPLE; next++) people.push({ place, weight: 1 / PEOPLE });
  }
  return people;
}
