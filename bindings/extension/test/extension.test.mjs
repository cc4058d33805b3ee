// The packed extension in Debian's Chromium: what pages of two sites are told, and what they cannot get at.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { chromium } from "playwright-core";

const folder = process.env.EXTENSION;
if (!folder) throw new Error("EXTENSION must name the folder of the unpacked extension");
const HERE = { latitude: 64.14, longitude: -21.92, accuracy: 12 };
const BLUR = { kind: "blurred", privacy: "factor 2 within 300 m" };

const profile = mkdtempSync(join(tmpdir(), "lrgeo-extension-"));
const servers = [];
const requests = [];
let context, worker, id, sites;

/** A website: every path is an empty page, `/frame` holds a frame of another site. */
async function website() {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "text/html");
    const other = new URL(request.url, "http://x").searchParams.get("frame");
    const frame = other ? `<iframe src="${other}"></iframe><iframe allow="geolocation" src="${other}?may"></iframe>` : "";
    response.end(`<!doctype html><title>site</title><link rel="icon" href="data:,"><body>${frame}`);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return `http://127.0.0.1:${server.address().port}`;
}

async function launch() {
  const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
  args.push(`--disable-extensions-except=${folder}`, `--load-extension=${folder}`, "--disable-features=DisableLoadExtensionCommandLineSwitch");
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  context = await chromium.launchPersistentContext(profile, { executablePath, headless: true, args, ignoreDefaultArgs: ["--disable-extensions"] });
  context.on("request", (request) => requests.push(request.url()));
  worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
  id = new URL(worker.url()).host;
  await moveTo(HERE);
}

/** Where the extension's own page, which nobody sees, believes to be. */
async function moveTo({ latitude, longitude, accuracy }) {
  const reasons = ["GEOLOCATION"];
  await worker.evaluate(async (reasons) => {
    if (!(await chrome.offscreen.hasDocument())) await chrome.offscreen.createDocument({ url: "source.html", reasons, justification: "test" });
  }, reasons);
  const session = await context.browser().newBrowserCDPSession();
  const { targetInfos } = await session.send("Target.getTargets");
  const { targetId } = targetInfos.find(({ url }) => url.endsWith("/source.html"));
  const { sessionId } = await session.send("Target.attachToTarget", { targetId, flatten: false });
  const message = JSON.stringify({ id: 1, method: "Emulation.setGeolocationOverride", params: { latitude, longitude, accuracy } });
  const done = new Promise((resolve) => session.once("Target.receivedMessageFromTarget", resolve));
  await session.send("Target.sendMessageToTarget", { sessionId, message });
  await done;
  // A fix may be a second old.
  await new Promise((resolve) => setTimeout(resolve, 1100));
}

const set = (site, level) => worker.evaluate(([name, level]) => chrome.storage.local.set({ [name]: level }), [`site ${site}`, level]);
const kept = async (site) => JSON.parse((await worker.evaluate(async (name) => (await chrome.storage.local.get(name))[name], `state ${site}`)) ?? "null");

async function open(address) {
  const page = await context.newPage();
  await page.goto(address);
  return page;
}

/** What a page is told, as it sees it. */
const told = (page, options = {}) =>
  page.evaluate(
    (options) =>
      new Promise((resolve) =>
        navigator.geolocation.getCurrentPosition(
          (position) => resolve({ ...position.toJSON().coords, kind: position instanceof GeolocationPosition, inner: position.coords instanceof GeolocationCoordinates, timestamp: position.timestamp }),
          (error) => resolve({ code: error.code, message: error.message, kind: error instanceof GeolocationPositionError, denied: error.PERMISSION_DENIED }),
          options,
        ),
      ),
    options,
  );

function metres(a, b) {
  const north = (a.latitude - b.latitude) * 111195;
  const east = (a.longitude - b.longitude) * 111195 * Math.cos((a.latitude * Math.PI) / 180);
  return Math.hypot(north, east);
}

before(async () => {
  sites = [await website(), await website(), await website()];
  await launch();
});
after(async () => {
  await context?.close();
  for (const server of servers) server.close();
  rmSync(profile, { recursive: true, force: true });
});

test("a page is told a blurred position with an honest accuracy, and staying spends nothing", async () => {
  const [site] = sites;
  await set(site, BLUR);
  const page = await open(site);
  const first = await told(page);
  assert.ok(first.kind && first.inner && first.timestamp % 60000 === 0);
  assert.ok(first.accuracy > 2000 && first.accuracy < 3000 && first.speed === null && first.altitude === null && first.heading === null);
  // Twenty times the mean of the noise would be a miracle, and the place itself another.
  assert.ok(metres(first, HERE) < 17000 && (first.latitude !== HERE.latitude || first.longitude !== HERE.longitude));
  await moveTo({ ...HERE, latitude: HERE.latitude + 0.0005 });
  const seen = await page.evaluate(async () => {
    const seen = [];
    const id = navigator.geolocation.watchPosition(({ coords }) => seen.push(coords.toJSON()));
    await new Promise((resolve) => setTimeout(resolve, 1500));
    navigator.geolocation.clearWatch(id);
    return seen;
  });
  assert.equal(seen.length, 1);
  assert.deepEqual([seen[0].latitude, seen[0].longitude], [first.latitude, first.longitude]);
  assert.equal((await kept(site)).anchors.length, 1);
  await moveTo({ ...HERE, latitude: HERE.latitude + 0.02 });
  const elsewhere = await told(page);
  assert.notEqual(elsewhere.latitude, first.latitude);
  assert.equal((await kept(site)).ledger.spends.length, 2);
  await moveTo(HERE);
  assert.equal((await told(page)).latitude, first.latitude, "back where one was, what was said there is said again");
  await page.close();
});

test("two sites get draws of their own", async () => {
  await set(sites[1], BLUR);
  const answers = [];
  for (const site of sites.slice(0, 2)) {
    const page = await open(site);
    answers.push(await told(page));
    await page.close();
  }
  assert.notDeepEqual([answers[0].latitude, answers[0].longitude], [answers[1].latitude, answers[1].longitude]);
});

test("exact, fixed and off are what they say", async () => {
  const site = sites[1];
  const page = await open(site);
  await set(site, { kind: "exact" });
  const exact = await told(page, { enableHighAccuracy: true });
  assert.deepEqual([exact.latitude, exact.longitude, exact.accuracy], [HERE.latitude, HERE.longitude, HERE.accuracy]);
  await set(site, { kind: "fixed", lat: 48.85, lon: 2.35 });
  const fixed = await told(page);
  assert.deepEqual([fixed.latitude, fixed.longitude], [48.85, 2.35]);
  await set(site, { kind: "off" });
  const off = await told(page);
  assert.ok(off.code === 1 && off.denied === 1 && off.kind);
  const states = [];
  for (const level of [{ kind: "off" }, BLUR]) {
    await set(site, level);
    states.push(await page.evaluate(async () => (await navigator.permissions.query({ name: "geolocation" })).state));
  }
  assert.deepEqual(states, ["denied", "granted"]);
  await page.close();
});

test("a page gets at no other geolocation, through frames, prototypes or beforehand", async () => {
  const [site] = sites;
  const page = await open(site);
  const mine = await told(page);
  const found = await page.evaluate(async () => {
    const ask = (geolocation, method) =>
      new Promise((resolve) => method.call(geolocation, ({ coords }) => resolve([coords.latitude, coords.longitude]), ({ code }) => resolve(code), { timeout: 4000 }));
    const found = {};
    const own = navigator.geolocation;
    found.prototype = await ask(own, Object.getPrototypeOf(own).getCurrentPosition);
    const frame = (change = () => {}) => {
      const frame = document.createElement("iframe");
      change(frame);
      document.body.append(frame);
      return frame;
    };
    const blank = frame().contentWindow;
    found.blank = await ask(blank.navigator.geolocation, blank.navigator.geolocation.getCurrentPosition);
    // The frame's method on the page's object, and the other way round.
    const second = frame().contentWindow;
    found.borrowed = await ask(own, second.Geolocation.prototype.getCurrentPosition).catch(String);
    found.indexed = await ask(window[0].navigator.geolocation, window[0].Geolocation.prototype.getCurrentPosition);
    const loaded = (frame) => new Promise((resolve) => (frame.onload = () => resolve(frame.contentWindow)));
    const srcdoc = await loaded(frame((f) => (f.srcdoc = "<p>x")));
    found.srcdoc = await ask(srcdoc.navigator.geolocation, srcdoc.Geolocation.prototype.getCurrentPosition);
    document.body.insertAdjacentHTML("beforeend", "<iframe></iframe>");
    const last = window[window.length - 1];
    found.inserted = await ask(last.navigator.geolocation, last.navigator.geolocation.getCurrentPosition);
    delete Geolocation.prototype.getCurrentPosition;
    delete navigator.geolocation;
    found.deleted = await ask(navigator.geolocation, navigator.geolocation.getCurrentPosition);
    const opened = window.open("about:blank");
    found.opened = opened ? await ask(opened.navigator.geolocation, opened.navigator.geolocation.getCurrentPosition) : "blocked";
    return found;
  });
  const fine = ([latitude, longitude]) => latitude === mine.latitude && longitude === mine.longitude;
  for (const [trick, got] of Object.entries(found)) assert.ok(typeof got === "string" || got === 1 || got === 2 || fine(got), `${trick}: ${JSON.stringify(got)}`);
  // Whoever gets at the browser's own finds it closed, without a question to the user: as in a world that this extension has not touched.
  const session = await context.newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "untouched" });
  const expression = "new Promise((resolve) => navigator.geolocation.getCurrentPosition(() => resolve('open'), ({ code }) => resolve(code)))";
  const { result } = await session.send("Runtime.evaluate", { contextId: executionContextId, expression, awaitPromise: true });
  assert.equal(result.value, 1);
  await page.close();
});

test("a page cannot read settings, the worker or the true position", async () => {
  const page = await open(sites[0]);
  const found = await page.evaluate(async (id) => {
    const reached = [];
    for (const file of ["popup.html", "source.html", "settings.js", "manifest.json"]) {
      await fetch(`chrome-extension://${id}/${file}`).then(() => reached.push(file), () => {});
    }
    return { reached, storage: Boolean(window.chrome?.storage), message: typeof window.chrome?.runtime?.sendMessage };
  }, id);
  assert.deepEqual(found, { reached: [], storage: false, message: "undefined" });
  await page.close();
});

test("frames of other sites ask only where the page lets them, and get what the page gets", async () => {
  const [site, , other] = sites;
  const page = await open(`${site}/?frame=${encodeURIComponent(other)}`);
  const [plain, allowed] = page.frames().slice(1);
  assert.equal((await told(plain)).code, 1);
  const mine = await told(page);
  assert.equal((await told(allowed)).latitude, mine.latitude);
  assert.equal(await kept(other), null);
  await page.close();
});

test("a site that nobody has decided about is decided about in a window", async () => {
  const site = sites[2];
  const page = await open(site);
  const [asking, answered] = [context.waitForEvent("page"), told(page)];
  const window = await asking;
  await window.waitForSelector("form:not([hidden])");
  assert.equal(await window.textContent("#site"), site);
  await window.check("#fixed");
  await window.fill("#lat", "10");
  await window.fill("#lon", "twenty");
  await window.click("button[type=submit]");
  assert.match(await window.textContent("#wrong"), /longitude/);
  await window.fill("#lon", "20");
  await window.click("button[type=submit]");
  const got = await answered;
  assert.deepEqual([got.latitude, got.longitude], [10, 20]);
  await page.close();
});

test("the popup and the options page say it and change it, with labels for everything", async () => {
  const [site] = sites;
  const popup = await open(`chrome-extension://${id}/popup.html?site=${encodeURIComponent(site)}`);
  await popup.waitForSelector("form:not([hidden])");
  await popup.waitForFunction(() => /95 % within/.test(document.getElementById("picture").getAttribute("aria-label")));
  assert.match(await popup.textContent("#account"), /had 2 different answers/);
  await popup.fill("#privacy", "factor 2 within a mile");
  await popup.waitForFunction(() => document.getElementById("wrong").textContent.includes("factor 2 within 300 m"));
  await popup.fill("#privacy", "factor 2 within 1 km");
  await popup.waitForFunction(() => document.getElementById("meaning").textContent.includes("1.0 km away"));
  const unlabelled = (page) => page.evaluate(() => [...document.querySelectorAll("input, select, button, canvas")].filter((e) => !(e.labels?.length || e.textContent.trim() || e.ariaLabel || e.getAttribute("aria-label"))).map((e) => e.id));
  assert.deepEqual(await unlabelled(popup), []);
  const drawn = await popup.evaluate(() => {
    const { width, height } = document.getElementById("picture");
    const alpha = (x, y) => document.getElementById("picture").getContext("2d").getImageData(x, y, 1, 1).data[3];
    return [alpha(Math.round(width * 0.45), Math.round(height * 0.45)), alpha(2, 2)];
  });
  assert.ok(drawn[0] > drawn[1] + 40, `the middle is darker than the corner: ${drawn}`);
  await popup.click("button[type=submit]").catch(() => {});
  const options = await open(`chrome-extension://${id}/options.html`);
  await options.waitForSelector("#sites tr");
  assert.match(await options.textContent("#sites"), /factor 2 within 1 km/);
  assert.deepEqual(await unlabelled(options), []);
  await options.selectOption("#default-kind", "off");
  await options.click("#default button[type=submit]");
  await options.waitForFunction(() => document.getElementById("said").textContent === "Saved.");
  await options.close();
});

test("with a file of places, new answers are places of it", async () => {
  // A table as `lrgeo map export` writes it: places half a kilometre apart or so, and more of them around than the noise ever leaves.
  const grid = Array.from({ length: 900 }, (_, n) => [HERE.latitude + 0.0045 * (Math.floor(n / 30) - 15), HERE.longitude + 0.01 * ((n % 30) - 15)].map((x) => Number(x.toFixed(6))));
  const table = ["id,lat,lon,prior", ...grid.map(([lat, lon], n) => `"place, ${n}",${lat},${lon},0.01`)].join("\n");
  const isPlace = ({ latitude, longitude }) => grid.some(([lat, lon]) => lat === latitude && lon === longitude);
  const options = await open(`chrome-extension://${id}/options.html`);
  const give = (name, text) => options.setInputFiles("#places-file", { name, mimeType: "text/plain", buffer: Buffer.from(text) });
  const answers = async () => {
    const site = await website();
    await set(site, BLUR);
    const page = await open(site);
    const found = [];
    for (const north of [0, 0.01, -0.01]) {
      await moveTo({ ...HERE, latitude: HERE.latitude + north });
      found.push(await told(page));
    }
    await page.close();
    return found;
  };
  for (const [text, reason] of [["lat,lon\n1,2\n3,east", /no number/], ["north,east\n1,2", /lat and lon/], ["lat,lon\n1,2", /at least two/], [JSON.stringify({ type: "Point" }), /FeatureCollection/]]) {
    await give("wrong.csv", text);
    await options.waitForFunction((source) => new RegExp(source).test(document.getElementById("places-wrong").textContent), reason.source);
    assert.match(await options.textContent("#places-said"), /None/);
  }
  await give("city.csv", table);
  await options.waitForFunction(() => document.getElementById("places-said").textContent.includes("900 places of city.csv"));
  const moved = await answers();
  assert.ok(moved.every(isPlace), JSON.stringify(moved));
  assert.ok(moved.every(({ accuracy }) => accuracy > 300 && accuracy < 6000), "the circle of a place is as honest");
  await options.click("#places-remove");
  await options.waitForFunction(() => document.getElementById("places-said").textContent.startsWith("None"));
  assert.ok(!(await answers()).some(isPlace), "without a map they are not");
  const features = grid.map(([lat, lon]) => ({ type: "Feature", geometry: { type: "Point", coordinates: [lon, lat] }, properties: { kind: "place", prior: 0.01 } }));
  features.push({ type: "Feature", geometry: { type: "Point", coordinates: [0, 0] }, properties: { kind: "target" } });
  await give("city.geojson", JSON.stringify({ type: "FeatureCollection", features }));
  await options.waitForFunction(() => document.getElementById("places-said").textContent.includes("900 places of city.geojson"));
  assert.ok((await answers()).every(isPlace));
  await moveTo(HERE);
  await options.close();
});

test("settings and what was said survive a restart, and nothing was asked of the network", async () => {
  const [site] = sites;
  await set(site, BLUR);
  const page = await open(site);
  const before = await told(page);
  await context.close();
  await launch();
  const again = await open(site);
  const after = await told(again);
  assert.deepEqual([after.latitude, after.longitude], [before.latitude, before.longitude]);
  const undecided = await open((await website()) + "/");
  assert.equal((await told(undecided)).code, 1, "the default that was saved");
  // What a page tried to read of the extension never left.
  const own = ["chrome-extension:", "data:", "about:", "blob:", ...servers.map((server) => `http://127.0.0.1:${server.address().port}`)];
  assert.deepEqual(requests.filter((url) => !own.some((start) => url.startsWith(start))), []);
});
