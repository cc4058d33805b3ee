// The shortest way along the streets, to move invented people on.

import type { Streets } from "../data";
import type { LatLon } from "./plane";

export class Router {
  readonly #at: [number, number][] = [];
  readonly #next: { to: number; km: number }[][] = [];

  constructor(streets: Streets) {
    const known = new Map<string, number>();
    const node = (point: [number, number]): number => {
      const key = `${Math.round(point[0] * 1e6)},${Math.round(point[1] * 1e6)}`;
      let found = known.get(key);
      if (found === undefined) {
        found = this.#at.push(point) - 1;
        this.#next.push([]);
        known.set(key, found);
      }
      return found;
    };
    for (const { points } of streets.lines) {
      for (let i = 1; i < points.length; i++) {
        const [a, b] = [node(points[i - 1]), node(points[i])];
        const km = this.#km(a, b);
        this.#next[a].push({ to: b, km });
        this.#next[b].push({ to: a, km });
      }
    }
  }

  #km(a: number, b: number): number {
    const [p, q] = [this.#at[a], this.#at[b]];
    return 111.2 * Math.hypot(q[1] - p[1], (q[0] - p[0]) * Math.cos((p[1] * Math.PI) / 180));
  }

  #nearest({ lat, lon }: LatLon): number {
    const narrow = Math.cos((lat * Math.PI) / 180);
    let [best, least] = [0, Infinity];
    this.#at.forEach(([x, y], i) => {
      const away = (y - lat) ** 2 + ((x - lon) * narrow) ** 2;
      if (away < least) [best, least] = [i, away];
    });
    return best;
  }

  /** From one coordinate to another, ends included. */
  way(from: LatLon, to: LatLon): LatLon[] {
    if (!this.#at.length) return [from, to];
    const [start, end] = [this.#nearest(from), this.#nearest(to)];
    const dist = new Float64Array(this.#at.length).fill(Infinity);
    const before = new Int32Array(this.#at.length).fill(-1);
    const heap: [number, number][] = [[0, start]];
    dist[start] = 0;
    while (heap.length) {
      const [d, at] = pop(heap);
      if (at === end) break;
      if (d > dist[at]) continue;
      for (const { to: next, km } of this.#next[at]) {
        if (d + km >= dist[next]) continue;
        dist[next] = d + km;
        before[next] = at;
        push(heap, [d + km, next]);
      }
    }
    const way: LatLon[] = [];
    for (let at = end; at >= 0; at = before[at]) way.push({ lat: this.#at[at][1], lon: this.#at[at][0] });
    return [from, ...way.reverse(), to];
  }
}

function push(heap: [number, number][], item: [number, number]): void {
  let at = heap.push(item) - 1;
  while (at > 0) {
    const up = (at - 1) >> 1;
    if (heap[up][0] <= heap[at][0]) break;
    [heap[up], heap[at]] = [heap[at], heap[up]];
    at = up;
  }
}

function pop(heap: [number, number][]): [number, number] {
  const top = heap[0];
  const last = heap.pop()!;
  if (heap.length) {
    heap[0] = last;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const least = left + 1 < heap.length && heap[left + 1][0] < heap[left][0] ? left + 1 : left;
      if (heap[least][0] >= heap[at][0]) break;
      [heap[least], heap[at]] = [heap[at], heap[least]];
      at = least;
    }
  }
  return top;
}
