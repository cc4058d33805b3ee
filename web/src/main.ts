// The page: fetches the map, shows it, then everything else that is public, and hands over to the view that the address names.

import "maplibre-gl/dist/maplibre-gl.css";

import { repaintLegend, type App, type View } from "./app";
import { Asked } from "./ask";
import { fetchCity, fetchMap, type City } from "./data";
import { Device } from "./device";
import { Pane } from "./map/pane";
import type { LatLon } from "./maths/plane";
import { Store, type ViewName } from "./state";
import { h } from "./ui";
import { explore } from "./views/explore";
import { operate } from "./views/operate";
import { rounds } from "./views/rounds";
import { sees } from "./views/sees";
import type { Tasks } from "./workers/compute";

const byId = (id: string) => document.getElementById(id)!;

/** By system, light, dark: what was chosen is kept. */
function themes(repaint: () => void): void {
  const button = byId("theme");
  const order = ["system", "light", "dark"];
  let chosen = localStorage.getItem("theme") ?? "system";
  const apply = () => {
    if (chosen === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    button.textContent = { system: "◐", light: "☀", dark: "☾" }[chosen] ?? "◐";
    button.setAttribute("aria-label", `Theme: ${chosen === "system" ? "as the system has it" : chosen}`);
    repaint();
  };
  button.addEventListener("click", () => {
    chosen = order[(order.indexOf(chosen) + 1) % order.length];
    localStorage.setItem("theme", chosen);
    apply();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  apply();
}

/** On a phone the panel is a sheet over the map. */
function sheet(): void {
  const handle = byId("sheet");
  handle.addEventListener("click", () => {
    const isOpen = document.body.classList.toggle("sheet-open");
    handle.setAttribute("aria-expanded", String(isOpen));
    handle.firstElementChild!.textContent = isOpen ? "Less" : "More";
  });
}

/** On paper the map has a size of its own and light colours: it is drawn so before the browser looks. */
function printing(panes: Pane[]): void {
  const become = (isPrinted: boolean) => {
    document.body.classList.toggle("printing", isPrinted);
    repaintLegend();
    for (const pane of panes) pane.print(isPrinted);
  };
  addEventListener("beforeprint", () => become(true));
  addEventListener("afterprint", () => become(false));
}

/** Coordinates, the number of a place, or a name on the map. */
function finder(city: City): (text: string) => LatLon | null {
  return (text) => {
    const words = text.trim().toLowerCase();
    const pair = words.match(/^(-?\d+(?:\.\d+)?)\s*[, ]\s*(-?\d+(?:\.\d+)?)$/);
    if (pair) {
      const at = { lat: Number(pair[1]), lon: Number(pair[2]) };
      return Math.abs(at.lat) <= 90 && Math.abs(at.lon) <= 180 ? at : null;
    }
    const number = words.match(/^(?:place\s*)?#?(\d+)$/);
    if (number) {
      const place = Number(number[1]);
      return place < city.lat.length ? { lat: city.lat[place], lon: city.lon[place] } : null;
    }
    const { landmarks } = city.index;
    const named = landmarks.find(({ name }) => name.toLowerCase() === words) ?? (words ? landmarks.find(({ name }) => name.toLowerCase().includes(words)) : undefined);
    return named ? { lat: named.at[0], lon: named.at[1] } : null;
  };
}

/** Somebody to begin with: at the place that is likeliest, a little off its middle. */
function somebody(city: City): LatLon {
  let likeliest = 0;
  city.prior.forEach((p, i) => p > city.prior[likeliest] && (likeliest = i));
  return { lat: city.lat[likeliest] + 0.0004, lon: city.lon[likeliest] - 0.0009 };
}

async function begin(): Promise<void> {
  sheet();
  const store = new Store();
  const panes: Pane[] = [];
  themes(() => {
    panes.forEach((pane) => pane.repaint());
    repaintLegend();
  });
  const { index, streets } = await fetchMap();
  const left = new Pane(byId("left"), index, streets, "Map of the city");
  const right = new Pane(byId("right"), index, streets, "The second map of the city");
  right.element.hidden = true;
  panes.push(left, right);
  printing(panes);
  left.link(right);
  const city = await fetchCity(index);
  const compute = new Asked<Tasks>(new Worker(new URL("./workers/compute.ts", import.meta.url), { type: "module" }));
  await compute.ask("setup", { city, streets });
  for (const pane of panes) pane.setPlaces(city.lat, city.lon, index.cell_km ?? index.spacing_km);

  let device: Device | null = null;
  const app: App = { store, compute, city, left, right, find: finder(city), get device() {
    return (device ??= new Device(city, compute));
  } };
  const makers: Record<ViewName, (app: App) => View> = { explore, sees, rounds, operate };
  const made = new Map<ViewName, View>();
  let shown: View | null = null;
  const show = (state = store.now, changed = new Set(Object.keys(store.now) as (keyof typeof state)[])) => {
    let view = made.get(state.view);
    if (!view) made.set(state.view, (view = makers[state.view](app)));
    if (view !== shown) {
      shown?.leave?.();
      shown = view;
      document.body.dataset.view = state.view;
      byId("content").replaceChildren(view.element);
      document.querySelectorAll<HTMLElement>("nav a").forEach((link) => {
        if (link.dataset.view === state.view) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      });
      for (const pane of panes) pane.map.resize();
      changed = new Set(Object.keys(state) as (keyof typeof state)[]);
    }
    view.update(state, changed);
  };
  store.onChange(show);
  document.querySelectorAll<HTMLAnchorElement>("a[data-view], a.brand").forEach((link) =>
    link.addEventListener("click", (event) => {
      // The person stays where they are from page to page.
      event.preventDefault();
      store.set({ view: (link.dataset.view ?? "explore") as ViewName });
    }),
  );
  if (!store.now.at) store.set({ at: somebody(city) });
  show();
  document.body.dataset.ready = "yes";
}

begin().catch((error: unknown) => {
  byId("content").replaceChildren(h("div", { class: "trouble", role: "alert" }, h("h1", {}, "This page cannot be shown"), h("p", {}, error instanceof Error ? error.message : String(error))));
});
