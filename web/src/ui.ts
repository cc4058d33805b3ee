// Elements and words.

type Child = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | ((event: Event) => void) | null | undefined>;

/** An element. `on...` are listeners; everything else is an attribute, true and false are its presence. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child != null && child !== false));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** An element of a drawing. */
export function s(tag: string, props: Record<string, string | number> = {}, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** A length for people. */
export function metres(km: number): string {
  if (!Number.isFinite(km)) return "–";
  if (km < 0.995) return `${Math.round(km * 1000)} m`;
  return km < 9.95 ? `${km.toFixed(2)} km` : `${km.toFixed(1)} km`;
}

export function percent(share: number): string {
  const value = 100 * share;
  return `${value >= 10 || value === 0 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value >= 0.01 ? value.toFixed(2) : "< 0.01"} %`;
}

export function kilobytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

export const whole = (n: number): string => Math.round(n).toLocaleString("en").replaceAll(",", "\u202f");

/** A number that people can act on: one in so many. */
export function oneIn(share: number): string {
  if (share <= 0) return "never";
  const n = 1 / share;
  return n < 1.5 ? "nearly always" : n < 10 ? `1 time in ${n.toFixed(1).replace(/\.0$/, "")}` : `1 time in ${whole(n)}`;
}

/** A choice of one, as buttons. */
export function choice<T extends string>(label: string, options: { value: T; text: string; title?: string; disabled?: boolean }[], value: T, onpick: (value: T) => void): HTMLElement & { pick(value: T): void } {
  const buttons = options.map((option) => {
    const button = h("button", { type: "button", role: "radio", disabled: option.disabled ?? false, title: option.title, onclick: () => onpick(option.value) }, option.text);
    return { value: option.value, button };
  });
  const group = h("div", { class: "choice", role: "radiogroup", "aria-label": label }, ...buttons.map(({ button }) => button));
  const pick = (picked: T) => {
    for (const { value, button } of buttons) {
      button.setAttribute("aria-checked", String(value === picked));
      button.tabIndex = value === picked ? 0 : -1;
    }
  };
  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const usable = buttons.filter(({ button }) => !button.disabled);
    const at = usable.findIndex(({ button }) => button === document.activeElement);
    const next = usable[(at + step + usable.length) % usable.length];
    next.button.focus();
    onpick(next.value);
  });
  pick(value);
  return Object.assign(group, { pick });
}

/** A figure with what it means below. */
export function fact(label: string): HTMLElement & { say(value: string, meaning: string, tone?: "good" | "bad" | ""): void } {
  const value = h("dd", { class: "value" }, "…");
  const meaning = h("dd", { class: "meaning" });
  const element = h("div", { class: "fact" }, h("dt", {}, label), value, meaning);
  return Object.assign(element, {
    say(text: string, words: string, tone: "good" | "bad" | "" = "") {
      value.textContent = text;
      meaning.textContent = words;
      element.className = `fact ${tone}`;
    },
  });
}
