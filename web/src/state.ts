// What is looked at, kept in the fragment of the address: a view can be shared, and a fragment is never sent to a server.

export type ViewName = "explore" | "sees" | "rounds" | "operate";
export type MechanismName = "coordinates" | "published" | "local" | "exponential";
export type ModeName = "coordinates" | "published" | "local" | "offload";

export interface State {
  view: ViewName;
  /** Where the person is; null: not chosen yet. */
  at: { lat: number; lon: number } | null;
  /** Factor 2 within so many metres; null: what the server publishes. */
  within: number | null;
  mechanism: MechanismName;
  /** The mechanism beside it, if any. */
  beside: MechanismName | "none";
  /** Whether the paper's picture is drawn: LR set, range, tied and free entries. */
  paper: boolean;
  mode: ModeName;
  /** A report to show instead of a new one: what a story told. */
  report: number | null;
  walk: "none" | "stay" | "commute" | "day";
  users: number;
}

const VIEWS: ViewName[] = ["explore", "sees", "rounds", "operate"];
const MECHANISMS: MechanismName[] = ["coordinates", "published", "local", "exponential"];
const MODES: ModeName[] = ["coordinates", "published", "local", "offload"];
const WALKS: State["walk"][] = ["none", "stay", "commute", "day"];

const one = <T extends string>(all: T[], text: string | null, otherwise: T): T => (all.includes(text as T) ? (text as T) : otherwise);
const whole = (text: string | null): number | null => (text && /^\d{1,9}$/.test(text) ? Number(text) : null);

function read(hash: string): State {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  const values = new URLSearchParams(query ?? "");
  const [lat, lon] = (values.get("at") ?? "").split(",").map(Number);
  const isSomewhere = values.has("at") && Math.abs(lat) <= 90 && Math.abs(lon) <= 180;
  const within = Number(values.get("within"));
  return {
    view: one(VIEWS, path, "explore"),
    at: isSomewhere ? { lat, lon } : null,
    within: within >= 1 && within <= 1e6 ? within : null,
    mechanism: one(MECHANISMS, values.get("mechanism"), "coordinates"),
    beside: one([...MECHANISMS, "none" as const], values.get("beside"), "none"),
    paper: values.get("paper") === "1",
    mode: one(MODES, values.get("mode"), "coordinates"),
    report: whole(values.get("report")),
    walk: one(WALKS, values.get("walk"), "none"),
    users: whole(values.get("users")) ?? 4,
  };
}

function write(state: State): string {
  const values = new URLSearchParams();
  if (state.at) values.set("at", `${state.at.lat.toFixed(5)},${state.at.lon.toFixed(5)}`);
  if (state.view === "explore") {
    if (state.within) values.set("within", String(Math.round(state.within)));
    if (state.mechanism !== "coordinates") values.set("mechanism", state.mechanism);
    if (state.beside !== "none") values.set("beside", state.beside);
    if (state.paper) values.set("paper", "1");
  }
  if (state.view === "sees") {
    values.set("mode", state.mode);
    if (state.report !== null) values.set("report", String(state.report));
    if (state.walk !== "none") values.set("walk", state.walk);
  }
  if (state.view === "rounds") values.set("users", String(state.users));
  const query = values.toString().replace("%2C", ",");
  return `#/${state.view}${query ? `?${query}` : ""}`;
}

type Listener = (state: State, changed: Set<keyof State>) => void;

/** Browsers allow an address to change some three times a second: while a slider moves it follows so much later. */
const LATER_MS = 400;

export class Store {
  #state = read(location.hash);
  #listeners: Listener[] = [];
  #later: number | null = null;

  constructor() {
    addEventListener("hashchange", () => {
      if (location.hash === write(this.#state)) return;
      this.#forget();
      const { at, ...rest } = read(location.hash);
      // An address that says nothing of the person leaves them where they are.
      this.set(at ? { at, ...rest } : rest);
    });
  }

  get now(): State {
    return this.#state;
  }

  set(change: Partial<State>): void {
    const changed = new Set<keyof State>();
    for (const key of Object.keys(change) as (keyof State)[]) {
      if (JSON.stringify(this.#state[key]) !== JSON.stringify(change[key])) changed.add(key);
    }
    if (!changed.size) return;
    const isOtherView = changed.has("view");
    if (isOtherView && this.#later !== null) this.#address("replaceState");
    this.#state = { ...this.#state, ...change };
    if (isOtherView) this.#address("pushState");
    else this.#later ??= window.setTimeout(() => this.#address("replaceState"), LATER_MS);
    for (const listener of this.#listeners) listener(this.#state, changed);
  }

  #forget(): void {
    if (this.#later !== null) clearTimeout(this.#later);
    this.#later = null;
  }

  /** The address says what is looked at. */
  #address(way: "pushState" | "replaceState"): void {
    this.#forget();
    const hash = write(this.#state);
    if (hash !== location.hash) history[way](null, "", hash);
  }

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }
}
