// What all views share.

import type { Asked } from "./ask";
import type { City } from "./data";
import type { Device } from "./device";
import { LEAST, MOST, currentTheme, ramp, type Ramp } from "./map/colours";
import type { Pane } from "./map/pane";
import type { LatLon } from "./maths/plane";
import type { State, Store } from "./state";
import { h } from "./ui";
import type { Tasks } from "./workers/compute";

export interface App {
  store: Store;
  compute: Asked<Tasks>;
  /** Started when it is first asked for. */
  readonly device: Device;
  city: City;
  left: Pane;
  right: Pane;
  /** What a number or a name means to the map; null where it is nothing. */
  find(text: string): LatLon | null;
}

export interface View {
  readonly element: HTMLElement;
  /** The view is shown, or something that it shows has changed. */
  update(state: State, changed: Set<keyof State>): void;
  /** Another view is shown. */
  leave?(): void;
}

/** Captions of the two maps; without a second one there is one map. */
export function captions(left: string | null, right: string | null): void {
  const say = (id: string, text: string | null) => {
    const element = document.getElementById(id)!;
    element.hidden = text === null;
    element.textContent = text ?? "";
  };
  say("left-caption", left);
  say("right-caption", right);
}

export function showSecond(app: App, isShown: boolean): void {
  const frame = document.getElementById("right-frame")!;
  if (frame.hidden === !isShown) return;
  frame.hidden = !isShown;
  app.right.element.hidden = !isShown;
  for (const pane of [app.left, app.right]) pane.refit();
  if (isShown) app.right.map.jumpTo({ center: app.left.map.getCenter(), zoom: app.left.map.getZoom() });
}

let explained: { ramps: { ramp: Ramp; text: string }[]; signs: { sign: string; text: string }[] } = { ramps: [], signs: [] };

/** What the colours and signs on the map mean. */
export function legend(ramps: (typeof explained)["ramps"], signs: (typeof explained)["signs"]): void {
  explained = { ramps, signs };
  repaintLegend();
}

/** In the colours of the theme that is. */
export function repaintLegend(): void {
  const { ramps, signs } = explained;
  const bar = ({ ramp: name, text }: { ramp: Ramp; text: string }) => {
    const strip = h("div", { class: "strip" });
    strip.style.background = `linear-gradient(to right, ${ramp(currentTheme(), name).filter((_, i) => i % 9 === 0).join(", ")})`;
    const scale = h("div", { class: "scale" });
    for (const share of [LEAST, 1e-3, 1e-2, 1e-1]) {
      const tick = h("span", {}, `${100 * share}${share === 0.1 ? " %" : ""}`);
      tick.style.left = `${(100 * Math.log(share / LEAST)) / Math.log(MOST / LEAST)}%`;
      scale.append(tick);
    }
    return h("div", { class: "ramp" }, h("p", {}, text), strip, scale);
  };
  const list = h("ul", {}, ...signs.map(({ sign, text }) => h("li", {}, h("span", { class: `sign ${sign}`, "aria-hidden": "true" }), text)));
  document.getElementById("legend")!.replaceChildren(...ramps.map(bar), list);
}
