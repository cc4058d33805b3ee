// The same client with a second, larger module that solves the programme of mode `local` on the device: in a worker, so that a page stays responsive.

import { Client as Phone } from "./index.js";

export { LocalStorage, LrgeoError, MemoryStorage } from "./index.js";

const inNode = typeof process !== "undefined" && Boolean(process.versions?.node);

/** A worker, wherever this runs: `post` sends, `listen` hears, `close` ends it. */
async function start() {
  if (inNode) {
    const { Worker } = await import("node:worker_threads");
    const worker = new Worker(new URL("./local-worker.js", import.meta.url));
    // A program may end while its worker waits.
    worker.unref();
    return {
      post: (message) => worker.postMessage(message),
      listen: (heard, failed) => worker.on("message", heard).on("error", failed),
      close: () => worker.terminate(),
    };
  }
  const worker = new Worker(new URL("./local-worker.js", import.meta.url), { type: "module" });
  return {
    post: (message) => worker.postMessage(message),
    listen: (heard, failed) => {
      worker.onmessage = ({ data }) => heard(data);
      worker.onerror = ({ message }) => failed(new Error(message || "the worker could not be started"));
    },
    close: () => worker.terminate(),
  };
}

/** Reports that are made in a worker. Where one is goes there and nowhere else: fetching and storing stay here. */
export class WorkerEngine {
  #started;
  #waiting = new Map();
  #next = 1;

  async begin(wasm, ...asked) {
    const way = await this.#call("begin", [wasm instanceof URL ? wasm.href : wasm, ...asked]);
    const call = (method) => (...args) => this.#call(method, args, way);
    // These say nothing back; what went wrong shows at the next step.
    const tell = (method) => (...args) => void this.#call(method, args, way).catch(() => {});
    return { next: call("next"), row: call("row"), answer: tell("answer"), rejected: tell("rejected"), unreachable: tell("unreachable"), kept: tell("kept"), free: tell("free") };
  }

  /** Ends the worker; the next report starts another. */
  async close() {
    const started = this.#started;
    this.#started = undefined;
    (await started)?.close();
  }

  async #call(method, args, way) {
    this.#started ??= start().then((worker) => {
      worker.listen(
        ({ id, value, error }) => {
          const { resolve, reject } = this.#waiting.get(id);
          this.#waiting.delete(id);
          if (error === undefined) resolve(value);
          else reject(new Error(error));
        },
        (error) => {
          this.#started = undefined;
          for (const { reject } of this.#waiting.values()) reject(error);
          this.#waiting.clear();
        },
      );
      return worker;
    });
    const worker = await this.#started;
    const id = this.#next++;
    const answered = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    worker.post({ id, way, method, args });
    return await answered;
  }
}

/** As `Client` of `lrgeo`, for all three modes; `local` unless another is asked for. */
export class Client extends Phone {
  constructor(server, options = {}) {
    super(server, { mode: "local", engine: new WorkerEngine(), ...options });
  }

  /** Ends the worker. */
  async close() {
    await this.engine.close?.();
  }
}
