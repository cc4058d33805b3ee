// Everything that takes more than a moment, away from the thread that draws.

import { ExponentialBlur, LocalBlur, PublishedBlur, holdingRadiusKm, overview, posterior, reportAt, rowFacts, type Blur, type Overview, type RowFacts } from "../maths/blur";
import { Costs } from "../maths/costs";
import { NoiseBlur, latticeFor } from "../maths/noise";
import { Places } from "../maths/places";
import { relevance, type Relevance } from "../maths/relevant";
import { Router } from "../maths/route";
import { fixesOf, follow, rememberedWithinKm, type Moment, type WalkName } from "../maths/walk";
import type { Answer, Question } from "../ask";
import type { City, Streets } from "../data";
import type { LatLon } from "../maths/plane";
import type { MechanismName } from "../state";

export interface Setting {
  mechanism: MechanismName;
  epsilon: number;
}

export interface Look {
  row: Float32Array;
  facts: RowFacts;
  place: number;
  /** The report that the number given stands for, */
  report: number;
  reportAwayKm: number;
  /** and the radius around it that holds the true position with 95 %. */
  ringKm: number;
  /** How often an attacker's best guess is the right place, for somebody who stands here. */
  computedMs: number;
}

export type Tasks = {
  /** What everything else is worked out from. */
  setup: { ask: { city: City; streets: Streets }; answer: null };
  look: { ask: Setting & { at: LatLon; unit: number; report?: number | null }; answer: Look };
  /** A row of mode `local` that the device has solved. */
  learn: { ask: { place: number; row: Float64Array }; answer: null };
  overview: { ask: Setting; answer: Overview | null };
  attacker: { ask: Setting & { report: number; at: LatLon }; answer: { belief: Float32Array; guess: number; guessOffKm: number; hiddenAmong: number; prior: number; share: number } };
  relevance: { ask: { at: LatLon }; answer: Relevance };
  walk: { ask: Setting & { walk: WalkName; from: LatLon; to: LatLon; seed: number }; answer: { fresh: Moment[]; remembered: Moment[]; withinKm: number } };
};

let city: City;
let places: Places;
let costs: Costs;
let router: Router;
const blurs = new Map<string, Blur>();
/** Rows of mode `local` by place. */
const solved = new Map<number, Float64Array>();

function blur({ mechanism, epsilon }: Setting): Blur {
  const key = `${mechanism} ${epsilon}`;
  const known = blurs.get(key);
  if (known) return known;
  let made: Blur;
  if (mechanism === "published") made = new PublishedBlur(city.published, places);
  else if (mechanism === "local") {
    const { local, parameters } = city.description;
    const ties = { y: local?.y ?? [], epsilon: parameters.epsilon_per_km, freeKm: parameters.exponential_km, rangeKm: parameters.obfuscation_km };
    made = new LocalBlur(solved, city.published, places, ties);
  } else if (mechanism === "exponential") made = new ExponentialBlur(epsilon, places);
  else {
    const isServers = city.noise && Math.abs(epsilon / city.manifest.promise.epsilon_per_km - 1) < 1e-9;
    const reach = 0.72 * places.spacingKm;
    const area = city.noise?.area ?? [Math.min(...places.x) - reach, Math.min(...places.y) - reach, Math.max(...places.x) + reach, Math.max(...places.y) + reach];
    made = new NoiseBlur(isServers ? city.noise!.lattice : latticeFor(epsilon, area), places, costs);
  }
  if (blurs.size >= 6) blurs.delete(blurs.keys().next().value!);
  blurs.set(key, made);
  return made;
}

/** A generator that tells the same story for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const handlers: { [T in keyof Tasks]: (ask: Tasks[T]["ask"], isStale: () => Promise<boolean>) => Tasks[T]["answer"] | Promise<Tasks[T]["answer"]> } = {
  setup(ask) {
    city = ask.city;
    const middle = { lat: (city.index.bounds[0] + city.index.bounds[2]) / 2, lon: (city.index.bounds[1] + city.index.bounds[3]) / 2 };
    places = new Places(city.lat, city.lon, city.prior, city.index.spacing_km, city.noise?.centre ?? middle);
    costs = new Costs(places, city.travel, Float64Array.from(city.targets, (target) => target.weight));
    router = new Router(ask.streets);
    return null;
  },

  look(ask) {
    const begun = performance.now();
    const made = blur(ask);
    const point = places.plane.project(ask.at);
    const row = made.row(point);
    const report = ask.report ?? reportAt(ask.unit, row, point, places);
    const belief = posterior(made.column(report), places.prior);
    return {
      row: Float32Array.from(row),
      facts: rowFacts(row, point, places, costs),
      place: places.nearest(point),
      report,
      reportAwayKm: places.away(report, point),
      ringKm: holdingRadiusKm(belief, report, places),
      computedMs: performance.now() - begun,
    };
  },

  learn({ place, row }) {
    solved.set(place, row);
    return null;
  },

  overview: (ask, isStale) => overview(blur(ask), places, costs, isStale),

  attacker(ask) {
    const belief = posterior(blur(ask).column(ask.report), places.prior);
    const point = places.plane.project(ask.at);
    const own = places.nearest(point);
    let [guess, entropy] = [0, 0];
    belief.forEach((p, i) => {
      if (p > belief[guess]) guess = i;
      if (p > 0) entropy -= p * Math.log(p);
    });
    return { belief: Float32Array.from(belief), guess, guessOffKm: places.away(guess, point), hiddenAmong: Math.exp(entropy), prior: places.prior[own], share: belief[own] };
  },

  relevance: ({ at }) => relevance(places.nearest(places.plane.project(at)), places, costs, city.description),

  walk({ walk, from, to, seed, ...setting }) {
    const made = blur(setting);
    const way = router.way(from, to);
    const fixes = fixesOf(walk, way, seeded(seed));
    const withinKm = rememberedWithinKm(setting.epsilon);
    return { fresh: follow(fixes, made, places, 0, seeded(seed + 1)), remembered: follow(fixes, made, places, withinKm, seeded(seed + 1)), withinKm };
  },
};

/** The newest number of each kind that was asked for: whatever is older need not be finished. */
const newest = new Map<keyof Tasks, number>();
const breath = new MessageChannel();
const breathing: (() => void)[] = [];
breath.port1.onmessage = () => breathing.shift()?.();

onmessage = async (event: MessageEvent<Question<Tasks>>) => {
  const { id, task, ask } = event.data;
  newest.set(task, id);
  const isStale = async () => {
    // Lets messages that have arrived be seen.
    await new Promise<void>((resolve) => {
      breathing.push(resolve);
      breath.port2.postMessage(null);
    });
    return newest.get(task) !== id || (newest.get("look") ?? 0) > id;
  };
  try {
    postMessage({ id, answer: await handlers[task](ask as never, isStale) } satisfies Answer);
  } catch (error) {
    postMessage({ id, error: String(error) } satisfies Answer);
  }
};
