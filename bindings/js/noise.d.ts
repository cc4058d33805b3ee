import type { Storage } from "./index.js";

export interface NoiseOptions {
  /** Where reports are remembered; one storage for each receiver that is to have draws of its own. */
  storage?: Storage;
  /** Where the WebAssembly module is, if not beside this file. */
  wasm?: string | URL | Response | BufferSource;
  /** Public places of latitude, longitude and weight: the best of them is reported wherever there are some around. */
  places?: [lat: number, lon: number, weight: number][];
  /** How far from where it was drawn a report is given again; 1/epsilon otherwise, between 50 m and 2 km. */
  reuseWithinKm?: number;
  /** The most epsilon per day; ten new reports otherwise. */
  perDayPerKm?: number;
  /** The most epsilon ever. */
  lifetimePerKm?: number;
  /** Predictable draws, for tests. Never for a person. */
  seed?: number;
}

export interface NoiseReport {
  lat: number;
  lon: number;
  /** The radius that holds the true position with at least 95 %, by the noise alone. */
  accuracyM: number;
  epsilonPerKm: number;
  /** Nothing if it was remembered. */
  spentPerKm: number;
  remembered: boolean;
  reusedWithinKm: number;
  leftPerKm: number;
}

export interface NoiseAbout {
  epsilonPerKm: number;
  /** The bound between any two coordinates that was proven on this device: at most epsilonPerKm. */
  provenPerKm: number;
  reuseWithinM: number;
  accuracyM: number;
  /** How far apart the points are that can be reported, at most. */
  latticeM: number;
  /** How likely a report is so many metres away, per square kilometre. */
  density(metres: number): number;
  /** How likely a report is within so many metres. */
  within(metres: number): number;
}

export interface NoiseAccount {
  spentPerKm: number;
  leftPerKm: number;
  lifetimeSpentPerKm: number;
  lifetimeLeftPerKm: number;
  /** How many reports are remembered. */
  reports: number;
}

export class Noise {
  /** `privacy` in words, such as "factor 2 within 300 m", or "2/km". */
  constructor(privacy: string, options?: NoiseOptions);
  report(at: { lat: number; lon: number }): Promise<NoiseReport>;
  about(): Promise<NoiseAbout>;
  account(): Promise<NoiseAccount>;
}
