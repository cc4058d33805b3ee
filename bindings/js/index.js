// The phone: opens a service, pins its key, verifies what it publishes, draws, remembers, keeps account. All of that is in WebAssembly; here is the loop
// around it, which fetches and stores.

import init, { Report } from "./wasm/lrgeo.js";

/** A report that was not made, and why: `kind` is lie, policy, transport, storage, spent or other. */
export class LrgeoError extends Error {
  constructor({ kind, message }) {
    super(message);
    this.name = "LrgeoError";
    this.kind = kind;
  }
}

let ready;

/** Loads the WebAssembly module once; `source` is a URL, a Response or its bytes, where the default does not find it. */
export function load(source) {
  ready ??= (async () => {
    if (source === undefined && typeof process !== "undefined" && process.versions?.node) {
      const { readFile } = await import("node:fs/promises");
      source = await readFile(new URL("./wasm/lrgeo_bg.wasm", import.meta.url));
    }
    await init({ module_or_path: source ?? new URL("./wasm/lrgeo_bg.wasm", import.meta.url) });
  })();
  ready.catch(() => (ready = undefined));
  return ready;
}

/** Where reports are made: here, by the module above. `lrgeo/local` has another. */
const here = {
  async begin(wasm, ...asked) {
    await load(wasm);
    return new Report(...asked);
  },
};

/** Remembers as long as the page lives. */
export class MemoryStorage {
  #text = null;
  async get() {
    return this.#text;
  }
  async set(text) {
    this.#text = text;
  }
}

/** Remembers in `localStorage`. */
export class LocalStorage {
  constructor(name = "lrgeo") {
    this.name = name;
  }
  async get() {
    return localStorage.getItem(this.name);
  }
  async set(text) {
    localStorage.setItem(this.name, text);
  }
}

/** Where there is a `localStorage`, that. */
export const defaultStorage = (name) => (typeof localStorage === "undefined" ? new MemoryStorage() : new LocalStorage(name));

/**
 * A user of one service. Where you are stays in this object's calls: nothing that is fetched depends on it, and what is reported was drawn.
 */
export class Client {
  #queue = Promise.resolve();

  constructor(server, options = {}) {
    const { storage = defaultStorage(), fetch = globalThis.fetch?.bind(globalThis), wasm, mode = "coordinates", engine = here, ...rest } = options;
    if (!fetch) throw new TypeError("lrgeo: this place has no fetch; pass one in the options");
    Object.assign(this, { server: String(server).replace(/\/+$/, ""), storage, fetch, wasm, mode, engine, options: rest });
  }

  /** A report for somebody at a coordinate. One after the other: each remembers what the one before kept. */
  report({ lat, lon }, options = {}) {
    const made = this.#queue.then(() => this.#report(lat, lon, options));
    this.#queue = made.catch(() => {});
    return made;
  }

  async #report(lat, lon, { mode = this.mode, ...more }) {
    const kept = await this.storage.get();
    const state = kept == null ? undefined : new TextEncoder().encode(kept);
    const way = await this.engine.begin(this.wasm, this.server, state, lat, lon, mode, JSON.stringify({ ...this.options, ...more }));
    try {
      for (;;) {
        // Where it is solved elsewhere, this waits; answers are passed on in order, so nobody waits for those.
        const step = JSON.parse(await way.next());
        if (step.done) return step.done;
        if (step.failed) throw new LrgeoError(step.failed);
        if (step.keep !== undefined) await this.#keep(way, step.keep);
        else await this.#ask(way, step.ask);
      }
    } finally {
      way.free();
    }
  }

  /**
   * The row that somebody at a coordinate would draw from, over all places: for pictures of people who do not exist. What is fetched is what a report
   * fetches; nothing is reported, kept or spent.
   */
  async row({ lat, lon }, { mode = this.mode, ...more } = {}) {
    // Only rehearsals write down what they draw from.
    const way = await this.engine.begin(this.wasm, this.server, undefined, lat, lon, mode, JSON.stringify({ ...this.options, seed: 0, ...more }));
    try {
      for (;;) {
        const step = JSON.parse(await way.next());
        if (step.failed) throw new LrgeoError(step.failed);
        if (step.keep !== undefined) way.kept(undefined);
        else if (step.ask.body) return await way.row();
        else await this.#ask(way, step.ask);
      }
    } finally {
      way.free();
    }
  }

  async #keep(way, text) {
    try {
      await this.storage.set(text);
      way.kept(undefined);
    } catch (error) {
      way.kept(String(error?.message ?? error));
    }
  }

  /** What is sent is a function of the request alone: no cookies, no referrer, no cache of the browser's that would tell a second visit. */
  async #ask(way, { method, path, body, accept, media, mostBytes }) {
    try {
      const answer = await this.fetch(this.server + path, {
        method,
        headers: body ? { accept, "content-type": media } : { accept },
        body: body ? new Uint8Array(body) : undefined,
        credentials: "omit",
        referrerPolicy: "no-referrer",
        redirect: "error",
        cache: "no-store",
      });
      const bytes = await limited(answer, answer.ok ? mostBytes : 1 << 16);
      if (answer.ok) way.answer(bytes, answer.headers.get("x-lrgeo-key") ?? undefined);
      else way.rejected(answer.status, bytes);
    } catch (error) {
      way.unreachable(String(error?.message ?? error));
    }
  }
}

/** The body, unless it is longer than there can be: then nothing of it is used. */
async function limited(answer, most) {
  const parts = [];
  let length = 0;
  const reader = answer.body?.getReader();
  if (!reader) return new Uint8Array(await answer.arrayBuffer());
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(`the answer is longer than ${most} bytes`);
    }
    parts.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
