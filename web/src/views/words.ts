// What an epsilon means, in the words of crates/mechanism/src/meaning.rs.

import type { City } from "../data";
import type { MechanismName } from "../state";

export const NAMES: Record<MechanismName, string> = { coordinates: "Noise around you", published: "Optimised for places", exponential: "Exponential" };

export const ABOUT: Record<MechanismName, string> = {
  coordinates: "Laplace noise around where you really stand, each outcome reported as the place that costs least. It protects people, wherever they are.",
  published: "The cheapest reports that the server could prove private between places. Cheaper, but people on two sides of a border are told apart.",
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

/** The epsilon of what is looked at: the slider's, or the server's, which is the only one that tiles have. */
export function epsilonOf(mechanism: MechanismName, within: number | null, city: City): number {
  const servers = city.manifest.promise.epsilon_per_km;
  return mechanism === "published" || within === null ? servers : (1000 * Math.log(2)) / within;
}

export const isOffered = (mechanism: MechanismName, city: City): boolean => (mechanism === "published" ? city.published.size > 0 : true);
