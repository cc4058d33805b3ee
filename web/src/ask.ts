// Asks a worker. Of questions of one kind that are not begun yet only the newest is asked: a slider that moves faster than it can be followed skips,
// it does not lag.

type Waiting = { resolve(answer: never): void; reject(error: Error): void };

/** What a worker can be asked, by task. */
export type TaskList = Record<string, { ask: unknown; answer: unknown }>;

/** What goes to a worker, and what comes back. */
export interface Question<Tasks extends TaskList, T extends keyof Tasks = keyof Tasks> {
  id: number;
  task: T;
  ask: Tasks[T]["ask"];
}
export type Answer = { id: number; answer: unknown } | { id: number; error: string };

export class Asked<Tasks extends TaskList> {
  readonly #waiting = new Map<number, Waiting>();
  readonly #busy = new Map<string, (() => void) | null>();
  #number = 0;

  constructor(readonly worker: Worker) {
    worker.onmessage = (event: MessageEvent<Answer>) => {
      const told = event.data;
      const waiting = this.#waiting.get(told.id);
      this.#waiting.delete(told.id);
      if ("error" in told) waiting?.reject(new Error(told.error));
      else waiting?.resolve(told.answer as never);
    };
  }

  ask<T extends keyof Tasks>(task: T, ask: Tasks[T]["ask"]): Promise<Tasks[T]["answer"]> {
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (answer: never) => void, reject });
      this.worker.postMessage({ id, task, ask } satisfies Question<Tasks>);
    });
  }

  /** The newest of its kind; `then` is called with every answer, `failed` with every failure, and questions that were overtaken before they were asked have neither. */
  latest<T extends keyof Tasks>(kind: string, task: T, ask: Tasks[T]["ask"], then: (answer: Tasks[T]["answer"]) => void, failed?: (reason: string) => void): void {
    const begin = () => {
      this.#busy.set(kind, null);
      const asked = this.ask(task, ask).then(then);
      (failed ? asked.catch((error: Error) => failed(error.message)) : asked).finally(() => {
        const next = this.#busy.get(kind);
        this.#busy.delete(kind);
        next?.();
      });
    };
    if (this.#busy.has(kind)) this.#busy.set(kind, begin);
    else begin();
  }
}
