// The phone: the npm package, in a worker of its own. The position comes in here and leaves only as a report that was drawn; every request that
// the package makes is noted on its way out. The module that solves programmes is fetched when it is first needed.

import { Client, MemoryStorage, type ClientOptions, type Mode, type Outcome } from "lrgeo";

import type { Answer, Question } from "../ask";

export interface Sent {
  method: string;
  path: string;
  /** What was sent, besides the address. */
  body: number[];
  up: number;
  down: number;
}

/** Somebody who does not exist. */
export interface Person {
  origin: string;
  at: { lat: number; lon: number };
  /** What they accept: what the server offers. */
  privacy: string;
}

/** What a device came to: a report, or why there is none. */
export type Told = { sent: Sent[]; outcome: Outcome } | { sent: Sent[]; refused: string };

export type DeviceTasks = {
  report: { ask: Person & { mode: Mode; /** For tests: predictable draws. */ rehearsal: { seed: number; forced: number } | null }; answer: Told };
  /** What mode `local` solves there. */
  row: { ask: Person & { /** The files of the cost table. */ slices: string[] }; answer: Float64Array };
};

/** Notes what is asked for. */
function noting(origin: string, sent: Sent[]): typeof fetch {
  return async (input, init) => {
    const body = init?.body instanceof Uint8Array ? [...init.body] : [];
    const path = String(input).slice(origin.length);
    const method = init?.method ?? "GET";
    // As HTTP/1.1 puts it: the line, the two headers that the package sets, the body.
    const head = `${method} ${path} HTTP/1.1\r\n${Object.entries((init?.headers ?? {}) as Record<string, string>).map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
    const one: Sent = { method, path, body, up: head.length + body.length, down: 0 };
    sent.push(one);
    const answer = await fetch(input, init);
    one.down = Number(answer.headers.get("content-length") ?? 0);
    return answer;
  };
}

/** Public files that pictures were made from. Everything is fetched with the first of them, so that no later request tells where one looks. */
const kept = new Map<string, Promise<Response>>();
const keeping: typeof fetch = async (input, init) => {
  const path = String(input);
  if (!kept.has(path)) {
    const asked = fetch(input, init);
    kept.set(path, asked);
    asked.catch(() => kept.delete(path));
  }
  return (await kept.get(path)!).clone();
};

/** One worker of the package solves for all. */
let solving: Promise<typeof import("lrgeo/local") & { engine: NonNullable<ClientOptions["engine"]> }> | undefined;
const solver = () => (solving ??= import("lrgeo/local").then((local) => ({ ...local, engine: new local.WorkerEngine() })));

async function client(person: Person, mode: Mode, options: ClientOptions): Promise<Client> {
  const all: ClientOptions = { storage: new MemoryStorage(), privacy: person.privacy, leastPlaces: 1, ...options };
  if (mode !== "local") return new Client(person.origin, all);
  const { Client: Solving, engine } = await solver();
  return new Solving(person.origin, { ...all, engine, protects: "relevant-places" });
}

const handlers: { [T in keyof DeviceTasks]: (ask: DeviceTasks[T]["ask"]) => Promise<DeviceTasks[T]["answer"]> } = {
  async report({ mode, rehearsal, ...person }) {
    const sent: Sent[] = [];
    try {
      const phone = await client(person, mode, { fetch: noting(person.origin, sent), targets: 3, ...(rehearsal ?? {}) });
      return { sent, outcome: await phone.report(person.at, { mode }) };
    } catch (error) {
      return { sent, refused: error instanceof Error ? error.message : String(error) };
    }
  },

  async row({ slices, ...person }) {
    // All of them and in order, whichever the programme of this place needs.
    for (const hash of slices) await keeping(`${person.origin}/v1/table/tiles/${hash}`, { headers: { accept: "application/cbor" } });
    const phone = await client(person, "local", { fetch: keeping });
    return phone.row(person.at, { mode: "local" });
  },
};

onmessage = async (event: MessageEvent<Question<DeviceTasks>>) => {
  const { id, task, ask } = event.data;
  try {
    postMessage({ id, answer: await handlers[task](ask as never) } satisfies Answer);
  } catch (error) {
    postMessage({ id, error: error instanceof Error ? error.message : String(error) } satisfies Answer);
  }
};
