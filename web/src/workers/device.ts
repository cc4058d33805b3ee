// The phone: the npm package, in a worker of its own. The position comes in here and leaves only as a report that was drawn; every request that
// the package makes is noted on its way out.

import { Client, MemoryStorage, type Mode, type Outcome } from "lrgeo";

export interface Sent {
  method: string;
  path: string;
  /** What was sent, besides the address. */
  body: number[];
  up: number;
  down: number;
}

export type Told = { id: number; sent: Sent[]; outcome: Outcome } | { id: number; sent: Sent[]; error: string };
export interface Asked {
  id: number;
  origin: string;
  at: { lat: number; lon: number };
  mode: Mode;
  /** What the invented owner accepts: what the server offers. */
  privacy: string;
  /** For tests: predictable draws. */
  rehearsal: { seed: number; forced: number } | null;
}

onmessage = async (event: MessageEvent<Asked>) => {
  const { id, origin, at, mode, privacy, rehearsal } = event.data;
  const sent: Sent[] = [];
  const noted: typeof fetch = async (input, init) => {
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
  try {
    const client = new Client(origin, { storage: new MemoryStorage(), fetch: noted, privacy, leastPlaces: 1, targets: 3, ...(rehearsal ?? {}) });
    const outcome = await client.report(at, { mode });
    postMessage({ id, sent, outcome } satisfies Told);
  } catch (error) {
    postMessage({ id, sent, error: error instanceof Error ? error.message : String(error) } satisfies Told);
  }
};
