// The paper's picture: which places a user's own programme looks at, which reports it may make, and which of them are free
// (sections 4.1 to 4.3; crates/mechanism/src/relevant.rs).

import type { Description } from "../data";
import type { Costs } from "./costs";
import type { Places } from "./places";

export interface Relevance {
  place: number;
  /** N_m: places that must not be told apart from the user's. */
  relevant: number[];
  /** Reports that are free from the user's place: within r_exp. */
  free: number[];
  /** Reports that are tied to y, falling with distance, */
  tied: number[];
  /** and those outside of the range, all alike. */
  outside: number;
  /** How much of the user's row is tied, with the public y; null without one. */
  tiedMass: number | null;
  /** How many numbers an upload of the paper's protocol has, */
  uploadNumbers: number;
  /** and which places would upload the same, as far as it was looked at: what is left of the user's privacy in `offload`. */
  uploadAlike: number[];
  /** Whether costs were looked at too, besides reportable places and distances. */
  comparedCosts: boolean;
}

export function relevance(place: number, places: Places, costs: Costs, { parameters, local }: Description): Relevance {
  const { relevant_km, relevant_max, exponential_km, obfuscation_km, epsilon_per_km } = parameters;
  const near = (i: number, km: number) => places.within(places.point(i), km);
  const setOf = (i: number) => {
    const set = near(i, relevant_km).sort((a, b) => places.between(i, a) - places.between(i, b) || a - b);
    return relevant_max ? set.slice(0, relevant_max) : set;
  };
  const relevant = setOf(place);
  const free = near(place, Math.min(exponential_km, obfuscation_km));
  const isFree = new Set(free);
  const tied = near(place, obfuscation_km).filter((k) => !isFree.has(k));
  const columnsOf = (set: number[]) => {
    const columns = new Set<number>();
    for (const i of parameters.range === "own" ? set.slice(0, 1) : set) for (const k of near(i, obfuscation_km)) columns.add(k);
    return columns;
  };
  const columns = columnsOf(relevant);
  // Rows are shuffled before they are uploaded, so sums are compared: of distances to a metre, of costs to six digits.
  const comparedCosts = costs.isKnown && costs.isExact;
  const upload = (i: number) => {
    const set = setOf(i);
    const columns = [...columnsOf(set)].sort((a, b) => a - b);
    let [km, cost] = [0, 0];
    for (const a of set) {
      for (const b of set) km += places.between(a, b);
      if (!comparedCosts) continue;
      const losses = costs.row(a);
      for (const k of columns) cost += places.prior[a] * losses[k];
    }
    return `${set.length} ${km.toFixed(3)} ${cost.toPrecision(6)} ${columns.join()}`;
  };
  const own = upload(place);
  // Whoever uploads the same reportable places is near: nobody else needs to be looked at, and on a fine map few.
  const around = costs.isExact ? Math.max(relevant_km, obfuscation_km) / 2 : 3 * places.spacingKm;
  const uploadAlike = near(place, around).filter((i) => i === place || upload(i) === own);
  let tiedMass: number | null = null;
  if (local) {
    tiedMass = 0;
    for (let k = 0; k < places.count; k++) {
      if (!isFree.has(k)) tiedMass += local.y[k] * Math.exp((-epsilon_per_km / 2) * Math.min(places.between(place, k), obfuscation_km));
    }
  }
  const n = relevant.length;
  return { place, relevant, free, tied, outside: places.count - free.length - tied.length, tiedMass, uploadNumbers: n * n + 2 * n * columns.size + columns.size, uploadAlike, comparedCosts };
}
