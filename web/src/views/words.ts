// What an epsilon means, in the words of crates/mechanism/src/meaning.rs.

import type { City } from "../data";
import { whyNotLocal } from "../device";
import type { MechanismName } from "../state";

export const NAMES: Record<MechanismName, string> = { coordinates: "Noise around you", published: "Optimised for places", local: "LR-Geo, your own", exponential: "Exponential" };

export const ABOUT: Record<MechanismName, string> = {
  coordinates: "Laplace noise around where you really stand, each outcome reported as the place that costs least. It protects people, wherever they are.",
  published: "The cheapest reports that the server could prove private between places. Cheaper, but people on two sides of a border are told apart.",
  local: "The paper’s LR-Geo: your device solves a programme of its own over the places around it, with a y that everybody shares. It promises something between those places alone.",
  exponential: "The textbook: each place is reported with a probability that falls with its distance. Needs no optimiser, and costs most.",
};

/** Farthest that somebody may be from the place that stands for them, in spacings. */
const REACH = 0.72;

/** Up to this distance no report is more than twice as likely from one person as from another; 0 where there is none. */
export function protectedKm(mechanism: MechanismName, epsilon: number, city: City): number {
  const doubled = Math.log(2) / epsilon;
  return mechanism === "coordinates" ? doubled : Math.max(0, doubled - 2 * REACH * city.index.spacing_km);
}

/** How many times as likely a report may be from one of two people who are so far apart. */
export function factorBetweenPeople(mechanism: MechanismName, epsilon: number, km: number, city: City): number {
  return Math.exp(epsilon * (km + (mechanism === "coordinates" ? 0 : 2 * REACH * city.index.spacing_km)));
}

export const serverWithinM = (city: City): number => (1000 * Math.log(2)) / city.manifest.promise.epsilon_per_km;

/** Whether it exists at the server's own setting alone: tiles, and the y that programmes are tied to. */
export const isFixed = (mechanism: MechanismName): boolean => mechanism === "published" || mechanism === "local";

/** The epsilon of what is looked at: the slider's, or the server's. */
export function epsilonOf(mechanism: MechanismName, within: number | null, city: City): number {
  const servers = city.manifest.promise.epsilon_per_km;
  return isFixed(mechanism) || within === null ? servers : (1000 * Math.log(2)) / within;
}

/** Why a mechanism cannot be shown here; null where it can. */
export function whyNot(mechanism: MechanismName, city: City): string | null {
  if (mechanism === "local") return whyNotLocal(city);
  return mechanism === "published" && !city.published.size ? "This server publishes noise for coordinates and no tiles." : null;
}
