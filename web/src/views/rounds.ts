// Rounds: the paper's decomposition at work on users who do not exist, live: bounds that close, the letter against the central path.

import { captions, legend, showSecond, type App, type View } from "../app";
import { choice, h, percent, s } from "../ui";

type Engine = "path" | "plain";
type Event =
  | { event: "users"; places: number[]; relevant: number[][]; reported: number[] }
  | { event: "bounds"; engine: Engine; seconds: number; iteration: number; upper: number | null; lower: number }
  | { event: "solved"; engine: Engine; seconds: number; cost: number | null; lower: number | null; rows: [number, number][][] }
  | { event: "end" };

const NAMES: Record<Engine, string> = { path: "central path", plain: "the paper’s letter" };

export function rounds(app: App): View {
  const { city, store, left } = app;
  let source: EventSource | null = null;
  let events: Event[] = [];
  let watched = 0;
  let chosen = 0;

  const sizes = choice("Users", city.index.rounds.map((n) => ({ value: String(n), text: `${n} users` })), "4", (value) => store.set({ users: Number(value) }));
  const status = h("p", { class: "sample", role: "status" });
  const chart = h("div", { class: "chart" });
  const table = h("div", { class: "wire" });
  const people = h("div", { class: "people" });
  const element = h("div", { class: "view rounds" }, h("h1", {}, "A round, solved before your eyes"),
    h("p", { class: "lead" }, "Users who join within a window share one y, and the server finds the cheapest matrices for all of them (the paper’s CLR-Geo). Benders’ decomposition closes in from both sides: a matrix that works, and a bound that nothing can beat."),
    sizes, status, chart, table, h("h2", {}, "Whose matrix"), people, h("p", { class: "hint" }, "These users are invented and the same for everybody, with the radii of the paper’s evaluation. Each size is solved once in the life of the server, on one thread; later visitors see the recording."));

  function watch(users: number): void {
    source?.close();
    events = [];
    watched = users;
    chosen = 0;
    paint();
    source = new EventSource(`/v1/page/rounds/${users}`);
    source.addEventListener("events", (message) => {
      events.push(...(JSON.parse(message.data) as Event[]));
      if (events.some(({ event }) => event === "end")) source?.close();
      paint();
    });
    source.onerror = () => {
      source?.close();
      if (!events.length) status.textContent = "The server does not answer.";
    };
  }

  const of = (engine: Engine) => events.filter((e): e is Extract<Event, { event: "bounds" }> => e.event === "bounds" && e.engine === engine);
  const solved = (engine: Engine) => events.find((e): e is Extract<Event, { event: "solved" }> => e.event === "solved" && e.engine === engine);
  const joined = () => events.find((e): e is Extract<Event, { event: "users" }> => e.event === "users");

  function paint(): void {
    if (store.now.view !== "rounds") return;
    const isOver = events.some(({ event }) => event === "end");
    const at = isOver ? null : solved("path") ? "plain" : joined() ? "path" : null;
    status.textContent = isOver ? "Solved, both ways." : at ? `Solving: ${NAMES[at]} …` : "Waiting for the server …";
    drawChart();
    drawTable();
    drawPeople();
  }

  function drawChart(): void {
    const all = (["path", "plain"] as Engine[]).map((engine) => ({ engine, points: of(engine) }));
    const uppers = all.flatMap(({ points }) => points.map((p) => p.upper)).filter((u): u is number => u !== null);
    const best = Math.min(...uppers);
    if (!uppers.length) {
      chart.replaceChildren(h("p", { class: "hint" }, "No matrix yet."));
      return;
    }
    const [width, height, foot, side] = [340, 230, 30, 46];
    const last = Math.max(0.1, ...all.flatMap(({ points }) => points.map((p) => p.seconds)));
    const first = Math.max(0.001, Math.min(last / 2, ...all.flatMap(({ points }) => points.map((p) => p.seconds)).filter((t) => t > 0)));
    const top = Math.min(Math.max(...uppers), 3 * best) * 1.06;
    const x = (t: number) => side + ((width - side - 10) * Math.log(Math.max(first, t) / first)) / Math.log(Math.max(1.01, last / first));
    const y = (value: number) => 8 + (height - foot - 8) * (1 - Math.max(0, Math.min(top, value)) / top);
    const steps = (points: [number, number][]) => points.map(([t, v], i) => (i ? `H${x(t).toFixed(1)}V${y(v).toFixed(1)}` : `M${x(t).toFixed(1)} ${y(v).toFixed(1)}`)).join("");
    const ticksY = [0, top / 3, (2 * top) / 3, top * 0.999];
    const ticksX = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10].filter((t) => t >= first && t <= last);
    const series = all.filter(({ points }) => points.length).flatMap(({ engine, points }) => [
      s("path", { d: steps(points.filter((p) => p.upper !== null).map((p) => [p.seconds, p.upper!])), class: `series ${engine}` }),
      s("path", { d: steps(points.map((p) => [p.seconds, p.lower])), class: `series ${engine} lower` }),
    ]);
    const drawing = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Upper and lower bounds of the cost per report over time, for both ways" },
      ...ticksY.flatMap((tick) => [s("line", { x1: side, x2: width - 10, y1: y(tick), y2: y(tick), class: "grid" }), s("text", { x: side - 6, y: y(tick) + 4, class: "tick end" }, tick.toFixed(2))]),
      ...ticksX.map((tick) => s("text", { x: x(tick), y: height - 12, class: "tick middle" }, tick < 1 ? `${1000 * tick} ms` : `${tick} s`)),
      ...series);
    chart.replaceChildren(h("p", { class: "key" }, "km of misjudged way per report: ", h("span", { class: "path" }, "central path"), ", ", h("span", { class: "plain" }, "the paper’s letter"), "; solid: best matrix, dashed: bound"), drawing);
  }

  function drawTable(): void {
    const rows = (["path", "plain"] as Engine[]).filter((engine) => of(engine).length || solved(engine)).map((engine) => {
      const points = of(engine);
      const last = points[points.length - 1];
      const end = solved(engine);
      const upper = end ? end.cost : (last?.upper ?? null);
      const lower = end ? end.lower : (last?.lower ?? null);
      const gap = upper !== null && lower !== null && upper > 0 ? Math.max(0, upper - lower) / upper : null;
      const cell = (text: string) => h("td", { class: "number" }, text);
      return h("tr", {}, h("th", { scope: "row" }, NAMES[engine]), cell(upper === null ? "–" : upper.toFixed(4)), cell(lower === null ? "–" : lower.toFixed(4)), cell(gap === null ? "–" : gap < 1e-4 ? "< 0.01 %" : percent(gap)), cell(String(last?.iteration ?? 0)), cell(`${(end?.seconds ?? last?.seconds ?? 0).toFixed(2)} s`));
    });
    const head = ["way", "matrix", "bound", "gap", "steps", "time"].map((text, i) => h("th", { scope: "col", class: i ? "number" : "" }, text));
    table.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)));
  }

  function drawPeople(): void {
    const users = joined();
    if (!users) {
      people.replaceChildren();
      left.show({});
      return;
    }
    const buttons = users.places.map((place, n) => h("button", { type: "button", "aria-pressed": String(n === chosen), onclick: () => {
      chosen = n;
      drawPeople();
    } }, `${n + 1}`, h("span", { class: "hint" }, `place ${place}`)));
    people.replaceChildren(...buttons);
    const coordinate = (place: number) => ({ lat: city.lat[place], lon: city.lon[place] });
    const values = new Float64Array(city.lat.length);
    const end = solved("path") ?? solved("plain");
    for (const [place, share] of end?.rows[chosen] ?? []) values[place] = share;
    left.show({ heat: { values, ramp: "blur" }, outlined: users.relevant[chosen], people: users.places.map((place, n) => ({ at: coordinate(place), text: String(n + 1), chosen: n === chosen })) });
  }

  return {
    element,
    update(state, changed) {
      const users = city.index.rounds.includes(state.users) ? state.users : (city.index.rounds[0] ?? 0);
      sizes.pick(String(users));
      if (changed.has("view")) {
        showSecond(app, false);
        captions(null, null);
        legend([{ ramp: "blur", text: "Reports of the chosen user" }], [{ sign: "person", text: "the chosen user" }, { sign: "set", text: "its LR set" }]);
        left.onpick = (at) => {
          const joinedNow = joined();
          if (!joinedNow) return;
          const away = (place: number) => Math.hypot(city.lat[place] - at.lat, city.lon[place] - at.lon);
          chosen = joinedNow.places.reduce((best, place, n) => (away(place) < away(joinedNow.places[best]) ? n : best), 0);
          drawPeople();
        };
      }
      if (!users) {
        status.textContent = "This server shows no rounds of invented users (page.rounds in its settings).";
        left.show({});
      } else if (watched !== users) watch(users);
      else paint();
    },
  };
}
