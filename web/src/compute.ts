// Asks the computing worker. Of questions of one kind that are not begun yet only the newest is asked: a slider that moves faster than it can be
// followed skips, it does not lag.

import type { Tasks } from "./workers/compute";

type Waiting = { resolve(answer: never): void; reject(error: Error): void };

export class Compute {
  readonly #worker = new Worker(new URL("./workers/compute.ts", import.meta.url), { type: "module" });
  readonly #waiting = new Map<number, Waiting>();
  readonly #busy = new Map<string, (() => void) | null>();
  #number = 0;

  constructor() {
    this.#worker.onmessage = (event: MessageEvent<{ id: number; answer?: never; error?: string }>) => {
      const { id, answer, error } = event.data;
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) waiting?.reject(new Error(error));
      else waiting?.resolve(answer as never);
    };
  }

  ask<T extends keyof Tasks>(task: T, ask: Tasks[T]["ask"]): Promise<Tasks[T]["answer"]> {
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (answer: never) => void, reject });
      this.#worker.postMessage({ id, task, ask });
    });
  }

  /** The newest of its kind; `then` is called with every answer, and questions that were overtaken before they were asked have none. */
  latest<T extends keyof Tasks>(kind: string, task: T, ask: Tasks[T]["ask"], then: (answer: Tasks[T]["answer"]) => void): void {
    const begin = () => {
      this.#busy.set(kind, null);
      this.ask(task, ask)
        .then(then)
        .finally(() => {
          const next = this.#busy.get(kind);
          this.#busy.delete(kind);
          next?.();
        });
    };
    if (this.#busy.has(kind)) this.#busy.set(kind, begin);
    else begin();
  }
}
