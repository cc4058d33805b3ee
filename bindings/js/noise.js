// Noise without a service: a coordinate is blurred on the device, wherever on Earth, with the guarantee that a service's noise has.

import { LrgeoError, defaultStorage, load } from "./index.js";
import { Noise as Drawn } from "./wasm/lrgeo.js";

/**
 * `new Noise("factor 2 within 300 m")` tells nobody's whereabouts: no report is more than twice as likely from one of two people within 300 m as from the
 * other. It has the `report` of a `Client`, so it can be given to `BlurredGeolocation` and `install`.
 */
export class Noise {
  #drawn;
  #queue = Promise.resolve();

  constructor(privacy, { storage = defaultStorage("lrgeo-noise"), wasm, ...options } = {}) {
    Object.assign(this, { privacy, storage, wasm, options });
  }

  /** A report for somebody at a coordinate: remembered around where it was drawn, or drawn and kept. One after the other. */
  report({ lat, lon }) {
    const made = this.#queue.then(() => this.#report(lat, lon));
    this.#queue = made.catch(() => {});
    return made;
  }

  /** What is promised, what it costs, and the picture of it: `density(metres)` per square kilometre and `within(metres)`. */
  async about() {
    const drawn = await this.#load();
    return { ...JSON.parse(drawn.about()), density: (metres) => drawn.density(metres), within: (metres) => drawn.within(metres) };
  }

  /** What is spent, left and remembered. */
  async account() {
    const drawn = await this.#load();
    return JSON.parse(drawn.account(await this.#kept()));
  }

  async #load() {
    if (!this.#drawn) {
      await load(this.wasm);
      this.#drawn ??= new Drawn(this.privacy, JSON.stringify(this.options));
    }
    return this.#drawn;
  }

  async #kept() {
    const kept = await this.storage.get();
    return kept == null ? undefined : new TextEncoder().encode(kept);
  }

  async #report(lat, lon) {
    const drawn = await this.#load();
    const { keep, done, failed } = JSON.parse(drawn.report(await this.#kept(), lat, lon));
    if (failed) throw new LrgeoError(failed);
    // A new report is kept before anybody is told; a remembered one has changed nothing.
    if (!done.remembered) {
      try {
        await this.storage.set(keep);
      } catch (error) {
        throw new LrgeoError({ kind: "storage", message: String(error?.message ?? error) });
      }
    }
    return done;
  }
}
