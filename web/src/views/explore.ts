// Explore: where somebody stands, what they may report from there, and what that means.

import { captions, legend, showSecond, type App, type View } from "../app";
import type { Overview } from "../maths/blur";
import type { Relevance } from "../maths/relevant";
import type { Scene } from "../map/pane";
import type { MechanismName, State } from "../state";
import { choice, fact, h, metres, oneIn, percent } from "../ui";
import type { Look } from "../workers/compute";
import { ABOUT, NAMES, epsilonOf, factorBetweenPeople, isFixed, protectedKm, serverWithinM, whyNot } from "./words";

type Side = "left" | "right";

const LEAST_M = 50;
const MOST_M = 3000;
/** The slider moves evenly in the logarithm. */
const toSlider = (m: number) => Math.round((1000 * Math.log(m / LEAST_M)) / Math.log(MOST_M / LEAST_M));
const ofSlider = (value: number) => LEAST_M * (MOST_M / LEAST_M) ** (value / 1000);

/** Metres that are easy to say. */
const rounded = (m: number) => Math.round(m / (m < 200 ? 5 : m < 1000 ? 10 : 50)) * (m < 200 ? 5 : m < 1000 ? 10 : 50);

export function explore(app: App): View {
  const { city, compute, store, left, right } = app;
  const servers = serverWithinM(city);
  /** Stands for the draw that is shown; another draw is another number. */
  let unit = 0.62;
  const looks: Record<Side, Look | null> = { left: null, right: null };
  let paper: Relevance | null = null;
  const overviews = new Map<string, Overview>();

  const search = h("input", { type: "search", id: "search", list: "names", placeholder: "lat, lon · place 12 · name", autocomplete: "off", enterkeyhint: "go" });
  const names = h("datalist", { id: "names" }, ...city.index.landmarks.map(({ name }) => h("option", { value: name })));
  const found = h("p", { class: "hint", role: "status" });
  const form = h("form", { class: "search", onsubmit: (event) => {
    event.preventDefault();
    const at = app.find(search.value);
    found.textContent = at ? "" : "Nothing of that name: give latitude and longitude, the number of a place, or a name on the map.";
    if (!at) return;
    store.set({ at });
    left.map.easeTo({ center: [at.lon, at.lat], duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 400 });
  } }, h("label", { for: "search" }, "Where somebody stands"), h("div", { class: "row" }, search, h("button", { type: "submit" }, "Go")), names, found);

  const promise = h("p", { class: "promise" });
  const slider = h("input", { type: "range", id: "within", min: 0, max: 1000, step: 1, value: toSlider(servers) });
  /** When the slider was moved for which no picture has come yet. */
  let moved: number | null = null;
  slider.addEventListener("input", () => {
    const begun = performance.now();
    const before = store.now.within;
    const m = rounded(ofSlider(Number(slider.value)));
    store.set({ within: Math.abs(Math.log(m / servers)) < 0.02 ? null : m });
    if (store.now.within !== before) moved ??= begun;
  });
  const back = h("button", { type: "button", class: "quiet", onclick: () => store.set({ within: null }) }, `server’s: ${metres(servers / 1000)}`);
  const what = h("label", { for: "within" }, "Hard to tell apart");
  const strength = h("div", { class: "slider" }, h("div", { class: "row between" }, what, back), slider, h("div", { class: "row between ends", "aria-hidden": "true" }, h("span", {}, "closer reports"), h("span", {}, "more privacy")));

  const options = (Object.keys(NAMES) as MechanismName[]).map((value) => ({ value, text: NAMES[value], title: whyNot(value, city) ?? ABOUT[value], disabled: whyNot(value, city) !== null }));
  /** What of the left and the right map is being solved, or why it cannot be. */
  const solving: Record<Side, string> = { left: "", right: "" };
  const mechanism = choice<MechanismName>("Mechanism", options, "coordinates", (value) => store.set({ mechanism: value, ...(store.now.beside === value ? { beside: "none" as const } : {}) }));
  const about = h("p", { class: "hint" });
  const busy = h("p", { class: "hint busy", role: "status" });
  const missing = options.filter((o) => o.disabled).map((o) => h("p", { class: "hint" }, `${o.text}: ${o.title}`));
  const beside = h("select", { id: "beside", onchange: () => store.set({ beside: beside.value as State["beside"] }) }, h("option", { value: "none" }, "nothing: one map"), ...options.filter((o) => !o.disabled).map((o) => h("option", { value: o.value }, o.text)));

  const facts = { people: fact("Protected around you"), error: fact("Reports are within"), guess: fact("An informed attacker's best guess"), cost: fact("Ways are misjudged by") };
  const sample = h("p", { class: "sample", role: "status" });
  const draw = h("button", { type: "button", class: "primary", onclick: () => {
    unit = crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32;
    look(store.now);
  } }, "Draw another report");
  const bars = h("div", { class: "bars" });
  const paperBox = h("input", { type: "checkbox", id: "paper", onchange: () => store.set({ paper: paperBox.checked }) });
  const paperWords = h("p", { class: "hint" });

  const element = h("div", { class: "view explore" },
    h("h1", {}, "See your own blur"),
    form,
    strength,
    promise,
    h("h2", {}, "How it is made"), mechanism, about, busy, ...missing,
    h("div", { class: "row field" }, h("label", { for: "beside" }, "Beside it"), beside),
    h("h2", {}, "What that means here"), h("dl", { class: "facts" }, ...Object.values(facts)),
    h("h2", {}, "One report"), sample, draw,
    h("h2", {}, "What a report costs the service"), bars,
    h("h2", {}, "The paper’s picture"), h("div", { class: "row check" }, paperBox, h("label", { for: "paper" }, "Show the LR set and the range of a programme of one’s own")), paperWords,
  );

  const setting = (name: MechanismName, state: State) => ({ mechanism: name, epsilon: epsilonOf(name, state.within, city) });

  function look(state: State): void {
    lookAt("left", state.mechanism, state);
    if (state.beside !== "none") lookAt("right", state.beside, state);
  }

  /** The row of a mechanism where the person stands; what the device must solve for itself comes later. */
  function lookAt(side: Side, name: MechanismName, state: State): void {
    if (!state.at) return;
    const at = state.at;
    const isShown = () => store.now.at === at && (side === "left" ? store.now.mechanism : store.now.beside) === name;
    const ask = () => compute.latest(side, "look", { ...setting(name, state), at, unit }, (answer) => {
      looks[side] = answer;
      paint(store.now);
      if (side === "right" || moved === null) return;
      performance.measure("slider to picture", { start: moved });
      moved = null;
    });
    solving[side] = "";
    if (name !== "local") return ask();
    solving[side] = "The device solves its own programme …";
    const told = (words: string) => {
      if (!isShown()) return;
      solving[side] = words;
      if (words) looks[side] = null;
      else ask();
      paint(store.now);
    };
    app.device.solve(at, () => told(""), (reason) => told(`The device refused: ${reason}`));
  }

  /** Figures over the whole city come after the picture. */
  let later = 0;
  function survey(state: State): void {
    clearTimeout(later);
    later = window.setTimeout(() => {
      for (const { value } of options.filter((o) => !o.disabled && o.value !== "local")) {
        const asked = setting(value, state);
        const key = `${value} ${asked.epsilon}`;
        if (overviews.has(key)) continue;
        compute.latest(`overview ${value}`, "overview", asked, (answer) => {
          if (answer) overviews.set(key, answer);
          else survey(store.now);
          if (store.now.view === "explore") words(store.now);
        });
      }
    }, 60);
  }

  function scene(look: Look | null, state: State): Scene {
    if (!look || !state.at) return {};
    const at = state.at;
    const reported = { lat: city.lat[look.report], lon: city.lon[look.report] };
    if (state.paper && paper) {
      const { exponential_km, obfuscation_km } = city.description.parameters;
      const circles = [{ around: at, km: exponential_km, text: `r_exp, ${metres(exponential_km)}` }, { around: at, km: obfuscation_km, text: `range r_obf, ${metres(obfuscation_km)}` }];
      return { entries: paper, person: at, outlined: paper.relevant, circles };
    }
    return { heat: { values: look.row, ramp: "blur" }, person: at, report: look.report, ring: { around: reported, km: look.ringKm, text: `95 % within ${metres(look.ringKm)}` } };
  }

  function paint(state: State): void {
    if (state.view !== "explore") return;
    left.show(scene(looks.left, state));
    if (state.beside !== "none") right.show(scene(looks.right, { ...state, paper: false }));
    words(state);
  }

  function words(state: State): void {
    const name = state.mechanism;
    const epsilon = epsilonOf(name, state.within, city);
    const doubled = Math.log(2) / epsilon;
    const isPeople = name === "coordinates";
    promise.replaceChildren("No report is more than ", h("strong", {}, "twice"), " as likely from you as from ", isPeople ? "anybody" : "another place", " within ", h("strong", {}, metres(doubled)), isPeople ? "." : " of yours.");
    about.textContent = ABOUT[name] + (isFixed(name) ? ` Only at the server’s own setting, ${metres(servers / 1000)}: the slider moves the others.` : "");
    busy.textContent = [solving.left, state.beside === "none" ? "" : solving.right].find((words) => words) ?? "";
    const km = protectedKm(name, epsilon, city);
    const factor = factorBetweenPeople(name, epsilon, 0.1, city);
    facts.people.say(km > 0 ? metres(km) : "nothing", km > 0 ? `Whoever is that near could have sent the same report, at most twice as likely or unlikely. At 100 m the factor is ${factor.toFixed(2)}.` : `Between places only. Two people 100 m apart may stand in different cells: a report can be ${factor.toFixed(1)} times as likely from one as from the other.`, km > 0 ? "" : "bad");
    const seen = looks.left;
    if (seen) {
      facts.error.say(metres(seen.facts.error95Km), `95 % of the reports from here; on average ${metres(seen.facts.meanKm)} away.`);
      facts.cost.say(seen.facts.costKm === null ? "not shown" : metres(seen.facts.costKm), seen.facts.costKm === null ? "This operator does not show where people travel to (page.costs)." : "So far off is the service’s idea of your ways to its targets, on average over your reports.");
      const loss = seen.reportAwayKm;
      sample.replaceChildren(`This time you report place ${seen.report}, `, h("strong", {}, metres(loss)), " away. Given that report alone, you are within ", h("strong", {}, metres(seen.ringKm)), " of it with 95 %.");
    }
    const whole = overviews.get(`${name} ${epsilon}`);
    if (name === "local") facts.guess.say("not known", "Everybody draws from a programme of their own: to say how often, all of them would have to be solved.");
    else if (whole) facts.guess.say(`right ${percent(whole.guessed)}`, `Somebody who knows the mechanism and where people usually are names your place ${oneIn(whole.guessed)}; without a report, ${oneIn(whole.blind)}.`, whole.guessed > 0.5 ? "bad" : "");
    else facts.guess.say("…", "Working through every place of the city.");
    drawBars(state);
    const { relevant_km, exponential_km, obfuscation_km } = city.description.parameters;
    paperWords.textContent = state.paper && paper
      ? `LR set (outlined): ${paper.relevant.length} places within Γ = ${metres(relevant_km)} that your own programme keeps alike. Reports within r_exp = ${metres(exponential_km)} are free (${paper.free.length}); from there to r_obf = ${metres(obfuscation_km)} they are tied to a y that everybody shares (${paper.tied.length}); the other ${paper.outside} are all alike.${paper.tiedMass === null ? "" : ` With the public y of this server ${percent(paper.tiedMass)} of your reports are tied ones.`}`
      : "LR-Geo (PETS 2025): a user optimises over the places around, and ties the rest to what everybody shares.";
  }

  function drawBars(state: State): void {
    const cost = (value: MechanismName) => (value === "local" ? city.description.local?.cost : overviews.get(`${value} ${epsilonOf(value, state.within, city)}`)?.costKm);
    const called: Record<MechanismName, string> = { ...NAMES, coordinates: "Noise around you (remapped Laplace)", local: "LR-Geo, as proven for the public y" };
    const rows = options.filter((o) => !o.disabled).map(({ value }) => ({ text: called[value], km: cost(value), isChosen: value === state.mechanism || value === state.beside }));
    if (city.travel === null) {
      bars.replaceChildren(h("p", { class: "hint" }, "This operator does not show where people travel to, so the page cannot say (page.costs in the settings)."));
      return;
    }
    const bound = city.manifest.optimum?.lower_bound || null;
    const epsilon = epsilonOf("coordinates", state.within, city);
    const holds = bound !== null && epsilon <= city.manifest.promise.epsilon_per_km * (1 + 1e-9);
    const most = Math.max(0.001, ...rows.map(({ km }) => km ?? 0), bound ?? 0);
    const line = (text: string, km: number | null | undefined, kind: string) => {
      const fill = h("span", { class: `fill ${kind}` });
      fill.style.width = `${(100 * (km ?? 0)) / most}%`;
      return h("li", { class: kind }, h("span", { class: "name" }, text), h("span", { class: "track" }, fill), h("span", { class: "number" }, km == null ? "…" : metres(km)));
    };
    const people = city.lat.length <= 700 ? "all people of the city" : "64 people, drawn evenly from where people are";
    bars.replaceChildren(
      h("ul", { class: "bar-list" }, ...rows.map(({ text, km, isChosen }) => line(text, km, isChosen ? "chosen" : "")), ...(holds ? [line("No mechanism on places can cost less", bound, "bound")] : [])),
      h("p", { class: "hint" }, `Misjudged way per report, averaged over ${people}. `, holds ? "The bound was proven by the server at its own setting and holds for every stricter one." : bound === null ? "This server has proven no bound." : "No bound is proven for less privacy than the server’s own."),
    );
  }

  return {
    element,
    update(state, changed) {
      slider.value = String(toSlider(state.within ?? servers));
      slider.setAttribute("aria-valuetext", metres((state.within ?? servers) / 1000));
      what.textContent = `Hard to tell apart: ${metres((state.within ?? servers) / 1000)}`;
      back.disabled = state.within === null;
      mechanism.pick(state.mechanism);
      beside.value = state.beside;
      paperBox.checked = state.paper;
      if (changed.has("view") || changed.has("beside") || changed.has("mechanism") || changed.has("paper")) {
        showSecond(app, state.beside !== "none");
        captions(state.beside !== "none" ? NAMES[state.mechanism] : null, state.beside !== "none" ? NAMES[state.beside] : null);
        legend(
          state.paper && state.beside === "none" ? [] : [{ ramp: "blur", text: "Chance of being reported" }],
          [{ sign: "person", text: "where you are" }, ...(state.paper ? [{ sign: "set", text: "LR set" }, { sign: "free", text: "free entry" }, { sign: "tied", text: "tied entry" }] : [{ sign: "report", text: "what you report" }, { sign: "ring", text: "holds you with 95 %" }])],
        );
        if (changed.has("view")) {
          for (const pane of [left, right]) pane.onpick = (at) => store.set({ at });
          left.onhover = hover(() => looks.left?.row);
          right.onhover = hover(() => looks.right?.row);
        }
      }
      if (state.paper && state.at && (changed.has("at") || changed.has("paper"))) {
        compute.latest("paper", "relevance", { at: state.at }, (answer) => {
          paper = answer;
          paint(store.now);
        });
      }
      look(state);
      survey(state);
      words(state);
    },
    leave() {
      left.onhover = right.onhover = null;
    },
  };

  function hover(values: () => ArrayLike<number> | undefined) {
    const tip = document.getElementById("hover")!;
    return (place: number | null, x: number, y: number) => {
      const shares = values();
      tip.hidden = place === null || !shares;
      if (place === null || !shares) return;
      tip.textContent = `place ${place}: ${percent(shares[place])}`;
      tip.style.transform = `translate(${x + 14}px, ${y + 14}px)`;
    };
  }
}
