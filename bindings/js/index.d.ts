/** `local` needs the second module: `import { Client } from "lrgeo/local"`. */
export type Mode = "coordinates" | "published" | "local";

export interface Storage {
  /** What was kept last; null for nothing. */
  get(): Promise<string | null | undefined>;
  /** Keeps it so that it survives, all of it or nothing. */
  set(text: string): Promise<void>;
}

export interface Options {
  /** The operator's public key, `ed25519:HEX`; without, the one that is seen first is pinned. */
  key?: string;
  /** The most that the owner accepts, in words: "factor 2 within 300 m". */
  privacy?: string;
  /** Agree once to weaker terms than before, within the owner's rules. */
  consent?: boolean;
  /** How many targets to ask for after the report. */
  targets?: number;
  /** How far from where it was drawn a report is given again. */
  reuseWithinKm?: number;
  /** As many likely places as must at least be left. */
  leastPlaces?: number;
  mode?: Mode;
  /** `local` promises something between the places around you only; say "relevant-places" to accept that. */
  protects?: "all-pairs" | "relevant-places";
  /** Predictable draws, for tests. Never for a person. */
  seed?: number;
  /** Forces a report, with a seed, for tests. */
  forced?: number;
}

export interface ClientOptions extends Options {
  storage?: Storage;
  fetch?: typeof fetch;
  /** Where the WebAssembly module is, if not beside this file. */
  wasm?: string | URL | Response | BufferSource;
  /** Where reports are made, if not by the module beside this file. */
  engine?: Engine;
}

/** Makes reports step by step; `lrgeo/local` has one that solves in a worker. */
export interface Engine {
  begin(wasm: ClientOptions["wasm"], ...asked: unknown[]): Promise<unknown>;
}

export interface Outcome {
  place: number;
  lat: number;
  lon: number;
  /** The radius that holds the true position with 95 %, given this report and what everybody knows. */
  accuracyM: number | null;
  mode: Mode;
  map: string;
  epsilonPerKm: number;
  /** Nothing if it was remembered. */
  spentPerKm: number;
  remembered: boolean;
  reusedWithinKm: number;
  operator: string;
  firstUse: boolean;
  targets: { lat: number; lon: number; km: number }[];
}

export class LrgeoError extends Error {
  kind: "lie" | "policy" | "transport" | "storage" | "spent" | "other";
}

export class MemoryStorage implements Storage {
  get(): Promise<string | null>;
  set(text: string): Promise<void>;
}

export class LocalStorage implements Storage {
  constructor(name?: string);
  get(): Promise<string | null>;
  set(text: string): Promise<void>;
}

/** `LocalStorage` where there is one, `MemoryStorage` otherwise. */
export function defaultStorage(name?: string): Storage;

export class Client {
  constructor(server: string | URL, options?: ClientOptions);
  report(at: { lat: number; lon: number }, options?: Options): Promise<Outcome>;
  /** What somebody there would draw from, over all places; nothing is reported. For pictures of people who do not exist. */
  row(at: { lat: number; lon: number }, options?: Options): Promise<Float64Array>;
}

export function load(source?: string | URL | Response | BufferSource): Promise<void>;
