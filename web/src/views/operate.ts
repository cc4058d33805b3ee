// Operate: what runs here, whether what it publishes was verified, how it is doing. Nothing about anybody's whereabouts is counted anywhere.

import { captions, showSecond, type App, type View } from "../app";
import { h, kilobytes, metres, s, whole } from "../ui";

interface Route {
  requests: number;
  refused: number;
  failed: number;
  seconds: number;
  buckets: number[];
}

interface Operation {
  uptime_seconds: number;
  bucket_seconds: number[];
  waiting: number;
  key: string;
  earlier_manifests: number;
  tiles_verified: number;
  counts: { routes: Record<string, Route>; rounds: { tickets: number; rounds: number; served: number; refused: number; seconds: number }; minutes: number[] };
}

const EVERY_MS = 2000;
/** So many tiles are listed one by one. */
const MOST_TILES = 60;

export function operate(app: App): View {
  const { city, store } = app;
  const { index, manifest, description } = city;
  let timer = 0;

  const pairs = (list: [string, string | HTMLElement][]) => h("dl", { class: "pairs" }, ...list.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  const card = (title: string, ...content: Node[]) => h("section", { class: "card" }, h("h2", {}, title), ...content);
  const code = (text: string) => h("code", {}, text);
  const load = h("div");
  const routes = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Requests by kind" });
  const rounds = h("div");
  const server = h("div");
  /** A table, whose first column names its rows. */
  const table = (heads: string[], rows: string[][]) => h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((text, i) => h("th", { scope: "col", class: i ? "number" : "" }, text)))), h("tbody", {}, ...rows.map(([name, ...cells]) => h("tr", {}, h("th", { scope: "row" }, name), ...cells.map((text) => h("td", { class: "number" }, text))))));
  const tiles = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Tiles" });
  function listTiles(verified: number | null): void {
    const state = verified === null ? "–" : verified === manifest.tiles.length ? "every two rows" : "not yet";
    const rows = manifest.tiles.slice(0, MOST_TILES).map((tile, n) => [String(n), whole(tile.places), kilobytes(tile.bytes), tile.hash.slice(0, 16), state]);
    const more = manifest.tiles.length - rows.length;
    tiles.replaceChildren(table(["tile", "places", "size", "file", "verified at the start"], rows), ...(more > 0 ? [h("p", { class: "hint" }, `and ${whole(more)} more`)] : []));
  }
  listTiles(null);
  const total = manifest.tiles.reduce((sum, tile) => sum + tile.bytes, 0);
  const parameters = description.parameters;
  const kind = manifest.tiles.length ? `${manifest.kind}, ${manifest.tiles.length} tiles, ${kilobytes(total)}` : "noise for coordinates, one file";

  const element = h("div", { class: "view operate" }, h("h1", {}, "Operate"), h("p", { class: "lead" }, "What this server publishes, whether it was verified, and how it is doing. No place, no address and no ticket is counted or logged."),
    h("div", { class: "cards" },
      card("Server", server),
      card("Load", load),
      card("Map", pairs([["version", code(index.map.slice(0, 16))], ["places", `${whole(index.places)}, ${metres(index.spacing_km)} apart`], ["radii", `Γ ${metres(parameters.relevant_km)}, r_exp ${metres(parameters.exponential_km)}, r_obf ${metres(parameters.obfuscation_km)}`], ["public y", description.local ? `cost ${description.local.cost.toFixed(3)}, bound ${description.local.lower_bound.toFixed(3)}` : "none: mode local is not offered"]])),
      card("Published", pairs([["what", kind], ["promise", `${manifest.promise.epsilon_per_km}/km, ${manifest.promise.gamma_km === null ? "all pairs" : `within ${metres(manifest.promise.gamma_km)}`}`], ["cost per report", `${manifest.expected_cost.toFixed(3)} ${manifest.unit}`], ["proven", manifest.optimum && manifest.optimum.gap < 0.5 ? `at most ${(100 * manifest.optimum.gap).toFixed(2)} % above the optimum of its programme` : manifest.optimum ? "nothing: the optimiser was stopped early" : "no optimum was looked for"], ["noise", manifest.noise ? kilobytes(manifest.noise.bytes) : "none"]])),
      card("Verified", h("p", { class: manifest.check.violations ? "big bad" : "big good" }, `${manifest.check.violations} violations`), pairs([["compared", `${whole(manifest.check.pairs)} pairs of places, ${manifest.check.method}`], ["worst log-excess", manifest.check.worst_log_excess === null ? "–" : manifest.check.worst_log_excess.toExponential(1)], ["epsilon found", `${manifest.check.effective_epsilon_per_km.toFixed(4)}/km`]])),
      card("Keys and manifests", pairs([["manifest", `number ${manifest.link.sequence}`], ["issued", manifest.link.issued], ["expires", manifest.link.expires], ["next is signed by", code(manifest.link.next_key.slice(0, 24) + "…")]])),
      card("Rounds and tickets", rounds),
    ),
    h("h2", {}, "Requests by kind"), routes,
    ...(manifest.tiles.length ? [h("h2", {}, "Tiles"), tiles] : []));

  function shown(operation: Operation): void {
    const { counts } = operation;
    const hours = operation.uptime_seconds / 3600;
    server.replaceChildren(pairs([["lrgeo", index.version], ["up for", hours < 1 ? `${Math.floor(operation.uptime_seconds / 60)} min ${Math.floor(operation.uptime_seconds % 60)} s` : `${hours.toFixed(1)} h`], ["verified at the start", `${operation.tiles_verified} tiles, every two rows of each`], ["signs with", code(`${operation.key.slice(0, 24)}…`)], ["earlier manifests", String(operation.earlier_manifests)]]));
    const { tickets, served, refused, seconds } = counts.rounds;
    rounds.replaceChildren(pairs([["waiting now", String(operation.waiting)], ["tickets", whole(tickets)], ["rounds", whole(counts.rounds.rounds)], ["users served", whole(served)], ["users refused", whole(refused)], ["mean time of a round", counts.rounds.rounds ? `${(seconds / counts.rounds.rounds).toFixed(2)} s` : "–"]]));
    const all = Object.values(counts.routes);
    const sum = (key: "requests" | "refused" | "failed") => all.reduce((n, route) => n + route[key], 0);
    load.replaceChildren(h("p", { class: "big" }, whole(counts.minutes[counts.minutes.length - 1] ?? 0), h("span", { class: "unit" }, " requests this minute")), sparkline(counts.minutes), pairs([["in all", whole(sum("requests"))], ["refused (4xx)", whole(sum("refused"))], ["failed (5xx)", whole(sum("failed"))]]));
    const ms = (value: number) => (value < 1 ? `${Math.max(value, 0.01).toFixed(2)} ms` : value < 100 ? `${value.toFixed(1)} ms` : `${(value / 1000).toFixed(2)} s`);
    const rows = Object.entries(counts.routes).sort((a, b) => b[1].requests - a[1].requests).map(([name, route]) => [name, whole(route.requests), ms((1000 * route.seconds) / route.requests), `≤ ${ms(1000 * quantile(route.buckets, operation.bucket_seconds))}`, whole(route.refused), whole(route.failed)]);
    routes.replaceChildren(table(["kind", "requests", "mean", "95 % took", "refused", "failed"], rows));
    listTiles(operation.tiles_verified);
  }

  async function poll(): Promise<void> {
    if (store.now.view !== "operate") return;
    try {
      const answer = await fetch("/v1/page/operation");
      if (answer.ok) shown((await answer.json()) as Operation);
    } catch {
      server.replaceChildren(h("p", { class: "bad" }, "The server does not answer."));
    }
    timer = window.setTimeout(poll, EVERY_MS);
  }

  return {
    element,
    update(_, changed) {
      if (!changed.has("view")) return;
      showSecond(app, false);
      captions(null, null);
      clearTimeout(timer);
      if (index.operation) void poll();
      else server.replaceChildren(h("p", { class: "hint" }, "This operator does not show figures of the operation (page.operation in the settings)."));
    },
    leave: () => clearTimeout(timer),
  };
}

/** The end of the bucket in which 95 % are reached. */
function quantile(buckets: number[], ends: number[]): number {
  const total = buckets.reduce((a, b) => a + b, 0);
  let sum = 0;
  for (let i = 0; i < buckets.length; i++) {
    sum += buckets[i];
    if (sum >= 0.95 * total) return ends[i] ?? Infinity;
  }
  return 0;
}

/** Requests of the last hour, a bar a minute. */
function sparkline(minutes: number[]): SVGElement {
  const most = Math.max(1, ...minutes);
  const bars = minutes.map((n, i) => s("rect", { x: 300 - 5 * (minutes.length - i), width: 4, y: 40 - (38 * n) / most, height: Math.max(n ? 1 : 0, (38 * n) / most), class: "bar" }));
  return s("svg", { viewBox: "0 0 300 42", class: "spark", role: "img", "aria-label": "Requests in each of the last 60 minutes" }, s("line", { x1: 0, x2: 300, y1: 41, y2: 41, class: "grid" }), ...bars);
}
