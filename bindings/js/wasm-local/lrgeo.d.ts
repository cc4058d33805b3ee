/* tslint:disable */
/* eslint-disable */
/**
 * A promise, and the noise that keeps it.
 */
export class Noise {
  free(): void;
  [Symbol.dispose](): void;
  /**
   * For a promise in words. `options` is JSON: reuseWithinKm, perDayPerKm, lifetimePerKm, places (of latitude, longitude, weight), seed.
   */
  constructor(privacy: string, options: string);
  /**
   * What is promised and what it costs, as JSON.
   */
  about(): string;
  /**
   * A report for somebody at a coordinate, as JSON: `{"keep": text, "done": report}`, where the text is to be kept before anybody is told, or
   * `{"failed": {kind, message}}`. `state` is what was kept last.
   */
  report(state: Uint8Array | null | undefined, lat: number, lon: number): string;
  /**
   * How likely an outcome is within so many metres.
   */
  within(metres: number): number;
  /**
   * What is spent, left and remembered, as JSON.
   */
  account(state?: Uint8Array | null): string;
  /**
   * How likely an outcome is so many metres away, per square kilometre.
   */
  density(metres: number): number;
}
/**
 * A report on its way.
 */
export class Report {
  free(): void;
  [Symbol.dispose](): void;
  /**
   * It did not answer.
   */
  unreachable(reason: string): void;
  /**
   * For somebody at a coordinate. `state` is what was kept last; `options` is JSON: key, consent, targets, privacy (the most that
   * the owner accepts, in words), seed (never for a person).
   */
  constructor(server: string, state: Uint8Array | null | undefined, lat: number, lon: number, mode: string, options: string);
  /**
   * The row that was drawn from, over all places: of predictable draws only, once there is one.
   */
  row(): Float64Array | undefined;
  /**
   * Whether the state was kept; why not, where it was not.
   */
  kept(failed?: string | null): void;
  /**
   * What to do next, as JSON: `{"ask": {method, path, accept, body, mostBytes}}`, `{"keep": text}`, `{"done": outcome}` or
   * `{"failed": {kind, message}}`.
   */
  next(): string;
  /**
   * What the server answered, and the key that it named.
   */
  answer(body: Uint8Array, key?: string | null): void;
  /**
   * It answered with another status than 200.
   */
  rejected(status: number, body: Uint8Array): void;
}

export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export interface InitOutput {
  readonly memory: WebAssembly.Memory;
  readonly __wbg_noise_free: (a: number, b: number) => void;
  readonly __wbg_report_free: (a: number, b: number) => void;
  readonly noise_about: (a: number, b: number) => void;
  readonly noise_account: (a: number, b: number, c: number, d: number) => void;
  readonly noise_density: (a: number, b: number) => number;
  readonly noise_new: (a: number, b: number, c: number, d: number, e: number) => void;
  readonly noise_report: (a: number, b: number, c: number, d: number, e: number, f: number) => void;
  readonly noise_within: (a: number, b: number) => number;
  readonly report_answer: (a: number, b: number, c: number, d: number, e: number) => void;
  readonly report_kept: (a: number, b: number, c: number) => void;
  readonly report_new: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number) => void;
  readonly report_next: (a: number, b: number) => void;
  readonly report_rejected: (a: number, b: number, c: number, d: number) => void;
  readonly report_row: (a: number, b: number) => void;
  readonly report_unreachable: (a: number, b: number, c: number) => void;
  readonly __wbindgen_export_0: (a: number) => void;
  readonly __wbindgen_add_to_stack_pointer: (a: number) => number;
  readonly __wbindgen_export_1: (a: number, b: number) => number;
  readonly __wbindgen_export_2: (a: number, b: number, c: number, d: number) => number;
  readonly __wbindgen_export_3: (a: number, b: number, c: number) => void;
}

export type SyncInitInput = BufferSource | WebAssembly.Module;
/**
* Instantiates the given `module`, which can either be bytes or
* a precompiled `WebAssembly.Module`.
*
* @param {{ module: SyncInitInput }} module - Passing `SyncInitInput` directly is deprecated.
*
* @returns {InitOutput}
*/
export function initSync(module: { module: SyncInitInput } | SyncInitInput): InitOutput;

/**
* If `module_or_path` is {RequestInfo} or {URL}, makes a request and
* for everything else, calls `WebAssembly.instantiate` directly.
*
* @param {{ module_or_path: InitInput | Promise<InitInput> }} module_or_path - Passing `InitInput` directly is deprecated.
*
* @returns {Promise<InitOutput>}
*/
export default function __wbg_init (module_or_path: { module_or_path: InitInput | Promise<InitInput> } | InitInput | Promise<InitInput>): Promise<InitOutput>;
