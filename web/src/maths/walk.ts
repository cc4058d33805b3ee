// What a series of reports tells. An attacker who knows the mechanism, where people usually are and how fast they move follows somebody from
// report to report: predict, then weigh by the report (a Bayes filter over the places).

import { posterior, reportAt, type Blur } from "./blur";
import type { Places } from "./places";
import type { LatLon, Point } from "./plane";

/** One moment at which the phone asks for a report. */
export interface Fix {
  at: LatLon;
  /** What a clock on the wall says. */
  label: string;
  /** So far somebody may have moved since the fix before. */
  reachKm: number;
  /** At rest through the night. */
  isNight?: boolean;
  /** Home again: who spent the night somewhere is likely to come back there. */
  isBack?: boolean;
}

export interface Moment {
  at: LatLon;
  label: string;
  report: number;
  /** Drawn now, not remembered. */
  isFresh: boolean;
  belief: Float32Array;
  /** The place that the attacker takes for the likeliest, */
  guess: number;
  /** how far that is from the truth, */
  guessOffKm: number;
  /** and behind how many equally likely places somebody is hidden as well: exp of the entropy. */
  hiddenAmong: number;
}

/** So many come back in the evening to where they spent the night; the others may be anywhere they can have gone. */
const COME_BACK = 0.8;

/** Radius within which a report is given again: 1/epsilon, between 50 m and 2 km, as the client's default. */
export const rememberedWithinKm = (epsilon: number): number => Math.min(2, Math.max(0.05, 1 / epsilon));

/** Reports of a walk and what they tell; `withinKm` is 0 where nothing is remembered. */
export function follow(fixes: Fix[], blur: Blur, places: Places, withinKm: number, random: () => number): Moment[] {
  const anchors: { point: Point; report: number; belief: Float64Array }[] = [];
  let belief: Float64Array = Float64Array.from(places.prior);
  let last = -1;
  let night = belief;
  return fixes.map((fix) => {
    const moved = () => {
      const predicted = spread(belief, fix.reachKm, places);
      return fix.isBack ? predicted.map((p, i) => (1 - COME_BACK) * p + COME_BACK * night[i]) : predicted;
    };
    const point = places.plane.project(fix.at);
    // The oldest anchor counts: what a spot was once reported as it stays.
    const known = withinKm > 0 ? anchors.findIndex((anchor) => Math.hypot(anchor.point[0] - point[0], anchor.point[1] - point[1]) <= withinKm) : -1;
    let report: number;
    if (known < 0) {
      report = reportAt(random(), blur.row(point), point, places);
      belief = posterior(blur.column(report), moved());
      anchors.push({ point, report, belief });
      last = anchors.length - 1;
    } else {
      report = anchors[known].report;
      // The same report again is the same draw: nothing new, but that they are still, or again, around where it was drawn.
      if (known !== last) {
        const near = spread(anchors[known].belief, withinKm, places);
        belief = fix.isBack ? anchors[known].belief : posterior(near, moved());
        last = known;
      }
    }
    if (fix.isNight) night = belief;
    let guess = 0;
    let entropy = 0;
    for (let i = 0; i < belief.length; i++) {
      if (belief[i] > belief[guess]) guess = i;
      if (belief[i] > 0) entropy -= belief[i] * Math.log(belief[i]);
    }
    const guessOffKm = places.away(guess, point);
    return { at: fix.at, label: fix.label, report, isFresh: known < 0, belief: Float32Array.from(belief), guess, guessOffKm, hiddenAmong: Math.exp(entropy) };
  });
}

/** Somebody who was distributed like this may have moved so far since, in any direction. */
function spread(belief: Float64Array, km: number, places: Places): Float64Array {
  const out = new Float64Array(belief.length);
  if (km <= 0) return Float64Array.from(belief);
  for (let i = 0; i < belief.length; i++) {
    if (belief[i] < 1e-12) continue;
    const near = places.within(places.point(i), km);
    // Half of them have not moved a place: fixes are more frequent than moves.
    const share = (0.5 * belief[i]) / Math.max(1, near.length);
    out[i] += near.length ? 0.5 * belief[i] : belief[i];
    for (const j of near) out[j] += share;
  }
  return out;
}

/** Positions along a way at even distances. */
function along(way: LatLon[], count: number): LatLon[] {
  const lengths = way.slice(1).map((to, i) => Math.hypot(to.lat - way[i].lat, (to.lon - way[i].lon) * Math.cos((to.lat * Math.PI) / 180)));
  const total = lengths.reduce((a, b) => a + b, 0);
  return Array.from({ length: count }, (_, step) => {
    let left = (total * step) / Math.max(1, count - 1);
    let at = 0;
    while (at < lengths.length - 1 && left > lengths[at]) left -= lengths[at++];
    const part = lengths[at] > 0 ? Math.min(1, left / lengths[at]) : 0;
    const [from, to] = [way[at], way[at + 1] ?? way[at]];
    return { lat: from.lat + part * (to.lat - from.lat), lon: from.lon + part * (to.lon - from.lon) };
  });
}

const clock = (minutes: number) => `${String(Math.floor(minutes / 60) % 24).padStart(2, "0")}:${String(Math.floor(minutes % 60)).padStart(2, "0")}`;

/** Around a spot, as a phone at rest sees it: some metres off. */
function jitter(at: LatLon, metresOff: number, random: () => number): LatLon {
  const [angle, km] = [2 * Math.PI * random(), (metresOff / 1000) * random()];
  return { lat: at.lat + (km / 111.2) * Math.sin(angle), lon: at.lon + ((km / 111.2) * Math.cos(angle)) / Math.cos((at.lat * Math.PI) / 180) };
}

export type WalkName = "stay" | "commute" | "day";

/** The fixes of a story: home is where the person stands, and `way` leads to work along the streets. */
export function fixesOf(walk: WalkName, way: LatLon[], random: () => number): Fix[] {
  const home = way[0];
  const work = way[way.length - 1];
  if (walk === "stay") return Array.from({ length: 10 }, (_, n) => ({ at: jitter(home, 15, random), label: `report ${n + 1}`, reachKm: 0 }));
  const drive = (begin: number, path: LatLon[], count: number): Fix[] => along(path, count).map((at, n) => ({ at, label: clock(begin + (n * 24) / count), reachKm: 40 * (24 / 60 / count) }));
  if (walk === "commute") return drive(8 * 60, way, 24);
  const hourly = (spot: LatLon, from: number, to: number): Fix[] => {
    const fixes = [];
    for (let hour = from; hour < to; hour++) fixes.push({ at: jitter(spot, 15, random), label: clock(hour * 60), reachKm: 0 });
    return fixes;
  };
  const evening = hourly(home, 18, 24);
  return [...hourly(home, 0, 8).map((fix) => ({ ...fix, isNight: true })), ...drive(8 * 60, way, 6), ...hourly(work, 9, 17), ...drive(17 * 60, [...way].reverse(), 6), { ...evening[0], isBack: true }, ...evening.slice(1)];
}
