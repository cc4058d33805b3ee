// Colours of the map. Two quantities, two hues: what somebody may report is warm, what an attacker believes is blue. The scale is fixed and
// logarithmic, so that two maps, and the same map before and after, can be compared by eye.

export type Ramp = "blur" | "attacker";

/** Shares of a distribution that the ends of a ramp stand for. */
export const LEAST = 1e-4;
export const MOST = 0.3;

const STOPS: Record<"light" | "dark", Record<Ramp, string[]>> = {
  light: { blur: ["#fff1d6", "#fdc98a", "#f58b5a", "#d9434e", "#8c1a55", "#4a0d3f"], attacker: ["#e8f3fb", "#b5d9ef", "#6db3dc", "#2f83c0", "#14559a", "#08285e"] },
  dark: { blur: ["#3b1a3c", "#6e1f52", "#b0344f", "#e76a4c", "#fbb061", "#fff0b8"], attacker: ["#0f2740", "#15456f", "#1f70ab", "#46a0d8", "#8fd0f2", "#e4f6ff"] },
};

const channels = (hex: string) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** 64 steps of a ramp, with how opaque each is. */
export function ramp(theme: "light" | "dark", name: Ramp): string[] {
  const stops = STOPS[theme][name].map(channels);
  return Array.from({ length: 64 }, (_, step) => {
    const at = (step / 63) * (stops.length - 1);
    const [low, part] = [Math.min(Math.floor(at), stops.length - 2), at - Math.min(Math.floor(at), stops.length - 2)];
    const rgb = [0, 1, 2].map((c) => Math.round(stops[low][c] * (1 - part) + stops[low + 1][c] * part));
    return `rgba(${rgb.join(",")},${(0.45 + 0.45 * Math.min(1, step / 24)).toFixed(2)})`;
  });
}

/** The step of a share; -1 where it is too small to be drawn. */
export function step(share: number): number {
  if (share < LEAST) return -1;
  return Math.min(63, Math.floor((64 * Math.log(share / LEAST)) / Math.log(MOST / LEAST)));
}

export const currentTheme = (): "light" | "dark" => {
  // Paper is white.
  if (document.body.classList.contains("printing")) return "light";
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
};

export const STREETS = {
  light: { ground: "#f4f3ef", street: ["#dcdad3", "#cfccc3", "#bdb9ae"] },
  dark: { ground: "#14181d", street: ["#262c34", "#323a44", "#465160"] },
};

export const INK = {
  light: { person: "#0b6e4f", personRim: "#ffffff", report: "#7a1248", line: "#3a3a3a", ring: "#7a1248", guess: "#08285e", set: "#0b6e4f", muted: "#5b5f66", free: "rgba(11,110,79,0.32)", tied: "rgba(179,84,26,0.3)" },
  dark: { person: "#5fe0b2", personRim: "#10241d", report: "#ffb072", line: "#e6e6e6", ring: "#ffb072", guess: "#bfe6ff", set: "#5fe0b2", muted: "#a7b0bb", free: "rgba(95,224,178,0.35)", tied: "rgba(251,176,97,0.32)" },
};
