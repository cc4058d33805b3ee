// Every page on a real `lrgeo serve`, in Debian's Chromium.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";

import { launch, open, serve } from "./service.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const out = new URL("out/", import.meta.url).pathname;
mkdirSync(out, { recursive: true });

let service, browser;
before(async () => ([service, browser] = [await serve(), await launch()]));
after(async () => {
  await browser?.close();
  await service?.stop();
});

/** What each page shows, and when it shows it. */
const VIEWS = {
  explore: { hash: "#/explore", ready: ".explore .bar-list li:nth-child(5) .number:not(:text('…'))" },
  beside: { hash: "#/explore?beside=published", ready: "#right-frame:not([hidden])" },
  lrgeo: { hash: "#/explore?mechanism=local&beside=coordinates", ready: ".explore:has(.busy:empty) .promise:has-text('another place')" },
  paper: { hash: "#/explore?paper=1", ready: ".explore .hint:has-text('LR set (outlined)')" },
  sees: { hash: "#/sees?mode=coordinates", ready: ".wire[data-mode=coordinates] .tells" },
  published: { hash: "#/sees?mode=published", ready: ".wire[data-mode=published] .tells" },
  local: { hash: "#/sees?mode=local", ready: ".wire[data-mode=local] .tells" },
  offload: { hash: "#/sees?mode=offload", ready: ".verdict .big.bad" },
  walk: { hash: "#/sees?walk=stay", ready: ".story[data-walk=stay] .chart path" },
  commute: { hash: "#/sees?walk=commute", ready: ".story[data-walk=commute] .chart path" },
  day: { hash: "#/sees?walk=day", ready: ".story[data-walk=day] .chart path" },
  rounds: { hash: "#/rounds?users=4", ready: ".rounds .sample:text('Solved, both ways.')" },
  operate: { hash: "#/operate", ready: ".operate .scroll tbody tr" },
};
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

/** The map stands still. */
const settled = (page) => page.waitForTimeout(400);

/** What axe-core finds that keeps somebody from using the page. */
async function barriers(page) {
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join("; ")}`);
}

for (const [size, viewport] of Object.entries(SIZES)) {
  for (const scheme of ["light", "dark"]) {
    test(`every page, ${size}, ${scheme}: nothing leaves the origin, nothing complains, everybody can use it`, async () => {
      const { page, context, asked, errors } = await open(browser, service.address, VIEWS.explore.hash, { ...viewport, scheme });
      // Given through DevTools, since the page allows no other script than its own.
      await page.evaluate(axe);
      for (const [name, { hash, ready }] of Object.entries(VIEWS)) {
        await page.evaluate((hash) => (location.hash = hash), hash);
        await page.waitForSelector(ready, { timeout: 120_000, state: "attached" });
        await settled(page);
        await page.screenshot({ path: `${out}${name}-${size}-${scheme}.png` });
        assert.deepEqual(await barriers(page), [], `${name} ${size} ${scheme}`);
        assert.deepEqual(errors, [], `${name} ${size} ${scheme}`);
      }
      assert.deepEqual(asked.filter(([, url]) => !url.startsWith(service.address) && !url.startsWith("data:")), [], "a request left the origin");
      await context.close();
    });
  }
}

test("on paper there is the map with its streets, light whatever the screen is, and no control", async () => {
  const { page, context } = await open(browser, service.address, VIEWS.explore.hash, { scheme: "dark" });
  await page.waitForSelector(VIEWS.explore.ready, { timeout: 60_000, state: "attached" });
  for (const name of ["explore", "sees"]) {
    await page.evaluate((hash) => (location.hash = hash), VIEWS[name].hash);
    await page.waitForSelector(VIEWS[name].ready, { timeout: 60_000, state: "attached" });
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await page.setViewportSize({ width: 718, height: 1000 });
    await page.screenshot({ path: `${out}${name}-print.png`, fullPage: true });
    const { ground, controls, map } = await page.evaluate(() => {
      const isSeen = (element) => element.getClientRects().length > 0;
      const canvas = document.querySelector("#left .overlay");
      const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      let map = 0;
      for (let at = 3; at < pixels.length; at += 4) map += pixels[at] > 0 ? 1 : 0;
      return { ground: getComputedStyle(document.body).backgroundColor, controls: [...document.querySelectorAll("button, input, select")].filter(isSeen).length, map: map / (pixels.length / 4) };
    });
    assert.equal(ground, "rgb(255, 255, 255)");
    assert.equal(controls, 0);
    assert.ok(map > 0.05, `${map} of the map is drawn`);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({ media: "screen" });
    await page.setViewportSize(SIZES.desktop);
  }
  await context.close();
});

for (const mode of ["coordinates", "published", "local"]) {
  test(`${mode}: two positions of one tile with the same forced report cause identical requests, the map's included`, async () => {
    const traffic = async ({ lat, lon }) => {
      const script = (value) => sessionStorage.setItem("rehearsal", value);
      const { page, context, asked, errors } = await open(browser, service.address, `#/sees?mode=${mode}&at=${lat},${lon}`, { before: { script, value: JSON.stringify({ seed: 3, forced: 7 }) } });
      await page.waitForSelector(VIEWS[mode === "coordinates" ? "sees" : mode].ready, { timeout: 120_000 });
      // Looking around asks for nothing either.
      await page.mouse.move(700, 400);
      await page.mouse.wheel(0, -400);
      await settled(page);
      assert.deepEqual(errors, []);
      await context.close();
      return asked.map((request) => JSON.stringify(request)).sort();
    };
    const { lat, lon } = service.at(140);
    const here = await traffic({ lat, lon });
    assert.deepEqual(await traffic({ lat: lat + 0.0021, lon: lon - 0.0017 }), here);
    assert.ok(here.some((request) => request.includes("/v1/reports")), "nothing was reported");
    assert.ok(!here.some((request) => request.includes(String(lat).slice(0, 6))), "a coordinate was sent");
  });
}

test("LR-Geo beside noise: rows that the device solved, and looking around with them asks for nothing more", async () => {
  const { lat, lon } = service.at(140);
  const { page, context, asked, errors } = await open(browser, service.address, `#/explore?mechanism=local&beside=coordinates&at=${lat},${lon}`);
  await page.waitForSelector(VIEWS.lrgeo.ready, { timeout: 120_000, state: "attached" });
  const before = asked.length;
  const sample = await page.locator(".explore .sample").textContent();
  const other = service.at(90);
  await page.evaluate((hash) => (location.hash = hash), `#/explore?mechanism=local&beside=coordinates&at=${other.lat},${other.lon}`);
  await page.waitForFunction((old) => document.querySelector(".busy").textContent === "" && document.querySelector(".explore .sample").textContent !== old, sample, { timeout: 120_000 });
  // But for the icon, which browsers fetch whenever the address changes.
  assert.deepEqual(asked.slice(before).filter(([, url]) => !url.includes("/assets/icon-")), []);
  assert.ok(asked.some(([, url]) => url.includes("/v1/table/tiles/")) && !asked.some(([, url]) => url.includes("/v1/reports")));
  assert.deepEqual(errors, []);
  await context.close();
});

test("a browser without relaxed SIMD is told so in words, and has everything else", async () => {
  const script = () => (WebAssembly.validate = () => false);
  const { page, context, asked, errors } = await open(browser, service.address, "#/sees?mode=local", { before: { script } });
  await page.getByText("needs relaxed SIMD").first().waitFor({ timeout: 60_000 });
  await page.evaluate(() => (location.hash = "#/explore"));
  await page.getByText("LR-Geo, your own: This browser cannot").waitFor();
  assert.ok(await page.getByRole("radio", { name: "LR-Geo" }).isDisabled());
  assert.ok(!asked.some(([, url]) => url.includes("/v1/table/")));
  assert.deepEqual(errors, []);
  await context.close();
});

test("a slider redraws while it moves, and the first paint comes soon", async () => {
  const { page, context } = await open(browser, service.address, "#/explore");
  await page.waitForSelector(VIEWS.explore.ready, { timeout: 60_000, state: "attached" });
  const first = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN);
  const slider = page.locator("#within");
  await slider.focus();
  for (let step = 0; step < 30; step++) {
    await page.keyboard.press(step % 10 < 5 ? "PageDown" : "PageUp");
    await page.waitForTimeout(60);
  }
  const took = await page.evaluate(() => performance.getEntriesByName("slider to picture").map(({ duration }) => duration));
  took.sort((a, b) => a - b);
  const median = took[took.length >> 1];
  console.log(`first paint ${first.toFixed(0)} ms; slider to picture: median ${median.toFixed(1)} ms, worst ${took.at(-1).toFixed(1)} ms of ${took.length}`);
  // Generous: the machines of the tests have other things to do.
  assert.ok(took.length > 10 && median < 150, `${median} ms`);
  assert.ok(first < 3_000, `${first} ms`);
  await context.close();
});

test("everything works without a mouse", async () => {
  const { page, context } = await open(browser, service.address, "#/explore");
  const promise = page.locator(".promise");
  const before = await promise.textContent();
  await page.locator("#within").focus();
  for (let step = 0; step < 40; step++) await page.keyboard.press("ArrowRight");
  assert.notEqual(await promise.textContent(), before);
  await page.locator("#search").fill("place 12");
  await page.keyboard.press("Enter");
  const at = service.at(12);
  await page.waitForFunction((text) => location.hash.includes(text), `at=${at.lat.toFixed(5)},${at.lon.toFixed(5)}`);
  await page.locator("#search").fill("old town");
  await page.keyboard.press("Enter");
  await page.waitForFunction((text) => location.hash.includes(text), `at=${service.at(140).lat.toFixed(5)}`);
  await page.locator("#search").fill("nowhere at all");
  await page.keyboard.press("Enter");
  await page.getByText("Nothing of that name").waitFor();
  await page.getByRole("radio", { name: "Noise around you" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => location.hash.includes("mechanism=published"));
  const map = page.locator("#left canvas.maplibregl-canvas");
  await map.focus();
  const hash = await page.evaluate(() => location.hash);
  await page.keyboard.press("ArrowLeft");
  await page.waitForTimeout(600);
  await page.keyboard.press("Enter");
  await page.waitForFunction((old) => location.hash !== old, hash);
  await page.getByRole("link", { name: "Rounds" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "A round, solved before your eyes" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "See your own blur" }).waitFor();
  await context.close();
});

test("an address brings back what it shows", async () => {
  const { lat, lon } = service.at(90);
  const { page, context } = await open(browser, service.address, `#/explore?at=${lat.toFixed(5)},${lon.toFixed(5)}&within=300&mechanism=exponential`);
  await page.getByText("300 m", { exact: false }).first().waitFor();
  assert.equal(await page.getByRole("radio", { name: "Exponential" }).getAttribute("aria-checked"), "true");
  await context.close();
  // What a story told is shown as it was told, and nobody asks the server for it.
  const told = await open(browser, service.address, `#/sees?mode=coordinates&at=${lat.toFixed(5)},${lon.toFixed(5)}&report=33`);
  await told.page.getByText("Hidden as among").waitFor();
  assert.ok(!told.asked.some(([, url]) => url.includes("/v1/reports")));
  await told.context.close();
});

test("the bundle stays small, and what solves on the device comes only when it is wanted", async () => {
  const folder = new URL("../dist/", import.meta.url);
  const files = ["index.html", ...readdirSync(new URL("assets/", folder)).map((name) => `assets/${name}`)].map((name) => {
    const bytes = readFileSync(new URL(name, folder));
    return { name, bytes: bytes.length, zipped: gzipSync(bytes, { level: 9 }).length };
  });
  const { page, context, asked } = await open(browser, service.address, "#/explore");
  await page.waitForSelector(VIEWS.explore.ready, { timeout: 60_000, state: "attached" });
  await context.close();
  const isFetched = ({ name }) => asked.some(([, url]) => url.endsWith(name));
  const solver = files.filter(({ name }) => name.endsWith(".wasm")).sort((a, b) => b.bytes - a.bytes)[0];
  const kilobytes = (list, key = "zipped") => list.reduce((sum, file) => sum + file[key], 0) / 1000;
  const rest = files.filter((file) => file !== solver);
  const own = files.filter(({ name }) => /\/(index|compute|device|local)-/.test(name));
  console.log(`bundle without what solves: ${(kilobytes(rest, "bytes") / 1000).toFixed(2)} MB, ${kilobytes(rest).toFixed(0)} kB gzipped, of which ${kilobytes(own).toFixed(0)} kB are the page's own; Explore fetches ${kilobytes(files.filter(isFetched)).toFixed(0)} kB; what solves: ${kilobytes([solver]).toFixed(0)} kB`);
  assert.ok(kilobytes(rest) < 900 && kilobytes(own) < 50 && kilobytes([solver]) < 600);
  assert.ok(!isFetched(solver) && !files.some((file) => file.name.endsWith(".wasm") && isFetched(file)), "a module was fetched that nobody needed yet");
});
