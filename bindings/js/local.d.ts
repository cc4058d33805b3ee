import { Client as Phone, ClientOptions, Engine } from "./index.js";

export { LocalStorage, LrgeoError, MemoryStorage } from "./index.js";

/** Reports that are made in a worker, by the second module. */
export class WorkerEngine implements Engine {
  begin(wasm: ClientOptions["wasm"], ...asked: unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

/** As `Client` of `lrgeo`, for all three modes; `local` unless another is asked for. */
export class Client extends Phone {
  constructor(server: string | URL, options?: ClientOptions);
  /** Ends the worker. */
  close(): Promise<void>;
}
