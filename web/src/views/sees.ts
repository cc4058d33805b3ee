// What the server sees: the same moment from the other side, and what many of them tell.

import type { Mode } from "lrgeo";

import { captions, legend, showSecond, type App, type View } from "../app";
import { whyNotLocal } from "../device";
import type { Moment } from "../maths/walk";
import type { Relevance } from "../maths/relevant";
import type { MechanismName, ModeName, State } from "../state";
import { choice, h, kilobytes, metres, percent, s, whole } from "../ui";
import type { Look, Tasks } from "../workers/compute";
import type { Sent } from "../workers/device";
import { epsilonOf } from "./words";

/** The mechanism of each mode that the device of this page can run; the paper's own is shown, not run. */
const MECHANISM: Record<ModeName, MechanismName | null> = { coordinates: "coordinates", published: "published", local: "local", offload: null };

const MODES: { value: ModeName; text: string }[] = [
  { value: "coordinates", text: "coordinates" },
  { value: "published", text: "published" },
  { value: "local", text: "local" },
  { value: "offload", text: "offload" },
];

const ABOUT: Record<ModeName, string> = {
  coordinates: "The device fetches one public file, checks what it promises, and draws around where it stands. Everybody’s requests are the same but for the report.",
  published: "The device fetches all public tiles, compares every two rows, and draws from its own. Everybody’s requests are the same but for the report.",
  local: "The device fetches the whole cost table, solves a programme of its own, and draws from its row. Everybody’s requests are the same but for the report.",
  offload: "The paper’s protocol: the device uploads the coefficients of its programme. This page does not run it, since the upload names the place; below is what would leave.",
};

export function sees(app: App): View {
  const { city, compute, store, left, right } = app;
  /** Modes that run here, with their mechanisms. */
  const runs = (mode: ModeName): MechanismName | null => (mode === "local" && whyNotLocal(city) ? null : MECHANISM[mode]);
  /** Whatever was asked before is old. */
  let asked = 0;
  let look: Look | null = null;
  let attacker: Tasks["attacker"]["answer"] | null = null;
  let upload: Relevance | null = null;
  let walk: Tasks["walk"]["answer"] | null = null;
  let moment = 0;
  let playing = 0;

  const mode = choice<ModeName>("Mode", MODES.map((m) => ({ ...m, disabled: m.value === "published" && !city.manifest.tiles.length })), "coordinates", (value) => store.set({ mode: value, report: null }));
  const about = h("p", { class: "hint" });
  const again = h("button", { type: "button", class: "primary", onclick: () => {
    store.set({ report: null });
    report(store.now);
  } }, "Report again, as somebody new");
  const wire = h("div", { class: "wire" });
  const verdict = h("div", { class: "verdict", role: "status" });
  const walks = choice<State["walk"]>("How long", [{ value: "none", text: "one report" }, { value: "stay", text: "ten, at rest" }, { value: "commute", text: "a commute" }, { value: "day", text: "a day" }], "none", (value) => store.set({ walk: value }));
  const scrub = h("input", { type: "range", id: "scrub", min: 0, max: 9, step: 1, value: 0, oninput: () => {
    stop();
    moment = Number(scrub.value);
    paintWalk();
  } });
  const play = h("button", { type: "button", onclick: () => (playing ? stop() : start()) }, "Play");
  const chart = h("div", { class: "chart" });
  const told = h("p", { class: "hint" });
  const story = h("div", { class: "story" }, h("div", { class: "row between" }, h("label", { for: "scrub" }, "Moment"), play), scrub, chart, told);
  const wireTitle = h("h2", {}, "What left the device");
  const single = h("div", {}, mode, about, verdict, wireTitle, wire, again);

  const lead = h("p", { class: "lead" });
  const element = h("div", { class: "view sees" }, h("h1", {}, "What the server sees"), lead, walks, single, story);

  const isTold = (state: State) => state.walk !== "none";

  /** Runs the device: the position goes to a worker of this page, and from there only as what is listed. */
  function report(state: State): void {
    if (!state.at || !runs(state.mode)) return;
    const id = ++asked;
    const [at, mode] = [state.at, state.mode as Mode];
    const isOld = () => id !== asked || store.now.view !== "sees";
    const refused = (reason: string) => !isOld() && verdict.replaceChildren(h("p", { class: "bad" }, `The device refused: ${reason}`));
    wire.replaceChildren(h("p", { class: "hint" }, mode === "local" ? "The device solves its own programme …" : "The device is at work …"));
    verdict.replaceChildren();
    const rehearsal = JSON.parse(sessionStorage.getItem("rehearsal") ?? "null") as { seed: number; forced: number } | null;
    const ask = () => app.device.latest("report", "report", { ...app.device.person(at), mode, rehearsal }, (answer) => {
      if (isOld()) return;
      listed(answer.sent);
      if ("refused" in answer) refused(answer.refused);
      else seen(answer.outcome.place);
    }, refused);
    // Its row is solved for the picture first.
    if (mode === "local") app.device.solve(at, () => isOld() || ask(), refused);
    else ask();
  }

  /** What the report looks like from both sides. */
  function seen(place: number): void {
    const state = store.now;
    const mechanism = runs(state.mode) ?? "coordinates";
    const setting = { mechanism, epsilon: epsilonOf(mechanism, null, city) };
    if (!state.at) return;
    compute.latest("sees look", "look", { ...setting, at: state.at, unit: 0, report: place }, (answer) => {
      look = answer;
      paint();
    });
    compute.latest("sees attacker", "attacker", { ...setting, report: place, at: state.at }, (answer) => {
      attacker = answer;
      paint();
    });
  }

  function listed(sent: Sent[]): void {
    wire.dataset.mode = store.now.mode;
    const name = (path: string) => path.replace(/[0-9a-f]{64}/g, (hash) => `${hash.slice(0, 6)}…`);
    const rows = sent.map(({ method, path, up, down, body }) =>
      h("tr", { class: body.length || path.includes("place=") ? "tells" : "" }, h("td", {}, `${method} ${name(path)}`, body.length ? h("div", { class: "body" }, described(body)) : null), h("td", { class: "number" }, kilobytes(up)), h("td", { class: "number" }, kilobytes(down))),
    );
    const total = (key: "up" | "down") => kilobytes(sent.reduce((sum, one) => sum + one[key], 0));
    wire.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "request"), h("th", { scope: "col", class: "number" }, "sent"), h("th", { scope: "col", class: "number" }, "received"))), h("tbody", {}, ...rows), h("tfoot", {}, h("tr", {}, h("td", {}, `${sent.length} requests`), h("td", { class: "number" }, total("up")), h("td", { class: "number" }, total("down"))))),
      h("p", { class: "hint" }, "Only the marked rows depend on anything: the report that was drawn. All others are the same for everybody. (Sent: the request as the package makes it; the browser adds its usual headers.)"));
  }

  /** The body of a report is CBOR: the map's version and a place. */
  function described(body: number[]): string {
    const hex = body.map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return `${body.length} bytes: ${hex.slice(0, 24)}…${hex.slice(-16)}`;
  }

  function paint(): void {
    const state = store.now;
    if (state.view !== "sees" || isTold(state) || !state.at) return;
    if (!runs(state.mode)) return paintPaper(state);
    if (!look || !attacker) return;
    left.show({ heat: { values: look.row, ramp: "blur" }, person: state.at, report: look.report });
    right.show({ heat: { values: attacker.belief, ramp: "attacker" }, report: look.report, guess: attacker.guess });
    verdict.replaceChildren(
      h("p", { class: "big" }, "Hidden as among ", h("strong", {}, `${attacker.hiddenAmong.toFixed(attacker.hiddenAmong < 10 ? 1 : 0)} places`), "."),
      h("p", {}, `The report is ${metres(look.reportAwayKm)} off. The attacker’s best guess (✕) is ${metres(attacker.guessOffKm)} off; it gives your own place ${percent(attacker.share)}, having given it ${percent(attacker.prior)} before.`),
      ...(state.mode !== "local" ? [] : [h("p", { class: "hint" }, "Your own row was solved here. To weigh the others the operator would have to solve everybody’s programme; for them this page takes what is tied to the public y, and the published rows for what is free.")]),
    );
  }

  /** The paper's own modes: what would leave, worked out here from public data. */
  function paintPaper(state: State): void {
    if (!state.at || !upload) return;
    const { parameters } = city.description;
    const circles = [{ around: state.at, km: parameters.obfuscation_km, text: "reportable places" }];
    left.show({ person: state.at, outlined: upload.relevant, circles });
    const belief = new Float64Array(city.lat.length);
    if (state.mode === "offload") {
      const mass = upload.uploadAlike.reduce((sum, i) => sum + city.prior[i], 0);
      for (const i of upload.uploadAlike) belief[i] = mass > 0 ? city.prior[i] / mass : 1 / upload.uploadAlike.length;
      right.show({ heat: { values: belief, ramp: "attacker" } });
      const left = upload.uploadAlike.length;
      verdict.replaceChildren(h("p", { class: "big bad" }, left === 1 ? "The place itself." : `One of ${left} places.`), h("p", {}, left === 1 ? "No other place of the map would upload the same numbers: whoever sees the upload knows where it is from, before any report." : upload.comparedCosts ? "So many places of the map would upload numbers like these." : "So many places would upload the same reportable places and distances. Their costs, which this page does not know, tell them apart too."));
      const n = upload.relevant.length;
      wire.replaceChildren(h("table", {}, h("tbody", {}, h("tr", { class: "tells" }, h("td", {}, `POST /v1/rounds`, h("div", { class: "body" }, `distances between ${n} relevant places, from each to every reportable place, costs likewise`)), h("td", { class: "number" }, `about ${kilobytes(9 * upload.uploadNumbers)}`)))), h("p", { class: "hint" }, `${whole(upload.uploadNumbers)} numbers. Nothing of it was sent: it is worked out here from what is public.`));
      return;
    }
    // `local`, where it cannot be run.
    right.show({ heat: { values: city.prior, ramp: "attacker" } });
    verdict.replaceChildren(h("p", { class: "big" }, "Not here."), h("p", {}, whyNotLocal(city) ?? ""), h("p", {}, "The right map shows what is known before a report: where people usually are."));
    wire.replaceChildren(h("p", { class: "hint" }, `The programme would have ${upload.relevant.length} relevant places (outlined). Elsewhere: lrgeo client obfuscate --mode local.`));
  }

  function paintWalk(): void {
    const state = store.now;
    if (!walk || state.view !== "sees") return;
    const draw = (moments: Moment[], pane: typeof left) => {
      const now = moments[moment];
      pane.show({ heat: { values: now.belief, ramp: "attacker" }, person: now.at, report: now.report, guess: now.guess, trail: moments.slice(0, moment + 1).map(({ at }) => at) });
    };
    draw(walk.fresh, left);
    draw(walk.remembered, right);
    const [fresh, kept] = [walk.fresh[moment], walk.remembered[moment]];
    scrub.value = String(moment);
    scrub.setAttribute("aria-valuetext", fresh.label);
    const draws = walk.remembered.slice(0, moment + 1).filter(({ isFresh }) => isFresh).length;
    const off = (m: Moment) => `best guess ${metres(m.guessOffKm)} off, hidden as among ${m.hiddenAmong.toFixed(m.hiddenAmong < 10 ? 1 : 0)} places`;
    captions(`Drawn anew each time, ${fresh.label}`, `Remembered, ${kept.label}`);
    told.replaceChildren(
      h("strong", {}, `${fresh.label}. `), `Drawn anew: ${moment + 1} ${moment ? "reports" : "report"}, ${off(fresh)}. Remembered within ${metres(walk.withinKm)}: ${draws} ${draws === 1 ? "draw" : "draws"}, ${off(kept)}.`,
    );
    drawChart(walk);
    story.dataset.walk = state.walk;
  }

  /** Behind how many places somebody is hidden, moment by moment. */
  function drawChart({ fresh, remembered }: NonNullable<typeof walk>): void {
    const [width, height, foot, side] = [340, 150, 24, 34];
    const most = Math.max(10, ...fresh.map((m) => m.hiddenAmong), ...remembered.map((m) => m.hiddenAmong));
    const x = (i: number) => side + ((width - side - 8) * i) / Math.max(1, fresh.length - 1);
    const y = (value: number) => 8 + (height - foot - 8) * (1 - Math.log(Math.max(1, value)) / Math.log(most));
    const line = (moments: Moment[]) => moments.map((m, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(m.hiddenAmong).toFixed(1)}`).join("");
    const ticks = [1, 3, 10, 30, 100, 300].filter((tick) => tick <= most);
    const drawing = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "How many places somebody is hidden among, at each moment: drawn anew and remembered" },
      ...ticks.flatMap((tick) => [s("line", { x1: side, x2: width - 8, y1: y(tick), y2: y(tick), class: "grid" }), s("text", { x: side - 6, y: y(tick) + 4, class: "tick end" }, String(tick))]),
      s("path", { d: line(fresh), class: "series fresh" }),
      s("path", { d: line(remembered), class: "series kept" }),
      s("line", { x1: x(moment), x2: x(moment), y1: 4, y2: height - foot, class: "now" }),
      s("text", { x: side, y: height - 7, class: "tick" }, fresh[0].label),
      s("text", { x: width - 8, y: height - 7, class: "tick end" }, fresh[fresh.length - 1].label));
    chart.replaceChildren(h("p", { class: "key" }, "Hidden as among so many places: ", h("span", { class: "kept" }, "remembered"), ", ", h("span", { class: "fresh" }, "drawn anew")), drawing);
  }

  function start(): void {
    if (!walk) return;
    if (moment >= walk.fresh.length - 1) moment = 0;
    play.textContent = "Pause";
    playing = window.setInterval(() => {
      if (!walk || moment >= walk.fresh.length - 1) return stop();
      moment++;
      paintWalk();
    }, 450);
  }

  function stop(): void {
    clearInterval(playing);
    playing = 0;
    play.textContent = "Play";
  }

  /** Where people of this city go: the likeliest target that is a way off, else the likeliest place. */
  function destination(from: { lat: number; lon: number }): { lat: number; lon: number } {
    const places = [...city.prior].map((weight, i) => ({ lat: city.lat[i], lon: city.lon[i], weight }));
    const far = (to: { lat: number; lon: number }) => 111 * Math.hypot(to.lat - from.lat, (to.lon - from.lon) * Math.cos((from.lat * Math.PI) / 180));
    const goals = city.targets.length ? city.targets : places;
    const off = goals.filter((to) => far(to) > 2.5);
    return (off.length ? off : goals).reduce((best, to) => (to.weight > best.weight ? to : best));
  }

  return {
    element,
    update(state, changed) {
      mode.pick(state.mode);
      walks.pick(state.walk);
      lead.textContent = isTold(state)
        ? "Somebody who does not exist reports again and again. Both maps: what the operator believes who knows the mechanism and how fast people move. Left, every report is drawn anew; right, the device remembers, as ours does."
        : "Somebody who does not exist uses the service. Left: what they know. Right: what the operator can make of it who knows the mechanism and where people usually are.";
      single.hidden = isTold(state);
      story.hidden = !isTold(state);
      about.textContent = ABOUT[state.mode];
      again.hidden = !runs(state.mode);
      wireTitle.textContent = runs(state.mode) ? "What left the device" : "What would leave the device";
      if (changed.has("view")) for (const pane of [left, right]) pane.onpick = (at) => store.set({ at, report: null });
      showSecond(app, true);
      if (changed.has("view") || changed.has("walk") || changed.has("mode")) {
        const isPaper = !isTold(state) && !runs(state.mode);
        if (!isTold(state)) captions("What the person knows", "What the operator can know");
        legend([...(isTold(state) || isPaper ? [] : [{ ramp: "blur" as const, text: "Chance of being reported" }]), { ramp: "attacker", text: "What the operator believes" }], [{ sign: "person", text: "where they are" }, ...(isPaper ? [{ sign: "set", text: "LR set" }] : [{ sign: "report", text: "what they report" }, { sign: "guess", text: "best guess" }])]);
      }
      if (isTold(state)) {
        if (!state.at || !(changed.has("at") || changed.has("walk") || changed.has("view"))) return;
        stop();
        const at = state.at;
        compute.latest("walk", "walk", { mechanism: "coordinates", epsilon: epsilonOf("coordinates", null, city), walk: state.walk as never, from: at, to: destination(at), seed: 5 }, (answer) => {
          walk = answer;
          moment = Math.min(moment, answer.fresh.length - 1);
          if (changed.has("walk") || changed.has("view")) moment = answer.fresh.length - 1;
          scrub.max = String(answer.fresh.length - 1);
          paintWalk();
        });
        return;
      }
      stop();
      if (!(changed.has("at") || changed.has("mode") || changed.has("walk") || changed.has("view") || changed.has("report"))) return;
      if (!runs(state.mode)) {
        if (!state.at) return;
        compute.latest("upload", "relevance", { at: state.at }, (answer) => {
          upload = answer;
          paint();
        });
        return;
      }
      if (state.report !== null && state.report < city.lat.length) {
        wire.replaceChildren(h("p", { class: "hint" }, "This is the report of the story that brought you here; the device of this page has not asked for anything yet."));
        seen(state.report);
      } else if (changed.has("at") || changed.has("mode") || changed.has("view") || changed.has("walk")) report(state);
    },
    leave: stop,
  };
}
