// The package in a real page and in a worker, in Debian's Chromium.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";

import { chromium } from "playwright-core";
import { serve } from "./service.mjs";

const golden = JSON.parse(readFileSync(new URL("../../golden.json", import.meta.url)));
const [{ lat, lon, seed, report }] = golden.reports;
const packaged = dirname(fileURLToPath(import.meta.resolve("lrgeo")));
const types = { js: "text/javascript", wasm: "application/wasm", html: "text/html" };

let service, pages, browser, origin;
before(async () => {
  service = await serve();
  pages = createServer(async (request, response) => {
    const name = request.url === "/" ? null : request.url.split("?")[0].slice(1);
    try {
      const body = name === null ? "<!doctype html><title>lrgeo</title><link rel=\"icon\" href=\"data:,\">" : await readFile(join(packaged, name));
      response.setHeader("content-type", types[name === null ? "html" : name.split(".").pop()] ?? "application/octet-stream");
      response.end(body);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise((resolve) => pages.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${pages.address().port}`;
  const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });
});
after(async () => {
  await browser?.close();
  pages?.close();
  await service?.stop();
});

/** A page of another origin than the service's, and every address that it asked. */
async function open() {
  const context = await browser.newContext({ geolocation: { latitude: lat, longitude: lon }, permissions: ["geolocation"] });
  const page = await context.newPage();
  const asked = [];
  const errors = [];
  page.on("request", (request) => asked.push([request.method(), request.url(), request.postDataBuffer()?.toString("hex") ?? ""]));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(origin + "/");
  return { page, asked, errors, context };
}

test("a page of another origin reports as every other language does, and so does a worker", async () => {
  const { page, asked, errors } = await open();
  const found = await page.evaluate(
    async ({ address, lat, lon, seed }) => {
      const { Client, MemoryStorage } = await import("/index.js");
      return await new Client(address, { storage: new MemoryStorage() }).report({ lat, lon }, { seed });
    },
    { address: service.address, lat, lon, seed },
  );
  assert.equal(found.place, report);
  const inWorker = await page.evaluate(
    async ({ address, lat, lon, seed }) => {
      const code = `import { Client, MemoryStorage } from "${location.origin}/index.js";
        const client = new Client("${address}", { storage: new MemoryStorage() });
        client.report({ lat: ${lat}, lon: ${lon} }, { seed: ${seed} }).then((r) => postMessage(r.place), (e) => postMessage(String(e)));`;
      const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })), { type: "module" });
      return await new Promise((resolve) => (worker.onmessage = (event) => resolve(event.data)));
    },
    { address: service.address, lat, lon, seed },
  );
  assert.equal(inWorker, report);
  assert.ok(asked.every(([, url]) => url.startsWith(origin) || url.startsWith(service.address) || url.startsWith("blob:")), "a request left for elsewhere");
  assert.deepEqual(errors, []);
});

test("the drop-in geolocation of a page: two positions with the same forced report cause identical requests", async () => {
  const traffic = async (at) => {
    const { page, asked, errors, context } = await open();
    await context.setGeolocation({ latitude: at.lat, longitude: at.lon });
    asked.length = 0;
    const position = await page.evaluate(
      async ({ address }) => {
        const { Client, MemoryStorage } = await import("/index.js");
        const { install } = await import("/geolocation.js");
        install(new Client(address, { storage: new MemoryStorage(), seed: 5, forced: 7 }));
        const position = await new Promise((resolve, reject) => navigator.geolocation.getCurrentPosition(resolve, reject));
        return { coords: position.coords.toJSON(), mode: position.accuracyMode };
      },
      { address: service.address },
    );
    assert.ok(position.coords.accuracy > 100 && position.coords.speed === null && position.mode === "approximate");
    assert.deepEqual(errors, []);
    await context.close();
    return asked;
  };
  const here = await traffic({ lat, lon });
  assert.deepEqual(await traffic({ lat: lat + 0.003, lon: lon + 0.002 }), here);
});

test("the examples of the README run", async () => {
  const readme = await readFile(join(packaged, "README.md"), "utf8");
  const examples = Array.from(readme.matchAll(/```js\n(.*?)```/gs), ([, code]) => code);
  assert.equal(examples.length, 4);
  const run = async (code, address) => {
    const { page, errors } = await open();
    // A bundler or an import map would do this.
    const content = code.replace(/from "lrgeo\/?(.*?)"/g, (_, part) => `from "/${part || "index"}.js"`).replaceAll("https://places.example", address);
    await page.evaluate(() => (globalThis.show = ({ accuracy }) => (globalThis.accuracy = accuracy)));
    const ended = new Promise((resolve) => page.once("pageerror", resolve));
    await page.addScriptTag({ type: "module", content });
    await Promise.race([page.waitForFunction(() => globalThis.accuracy > 100), ended]);
    assert.deepEqual(errors, []);
  };
  const [client, geolocation, noise, local] = examples;
  await run(client + geolocation, service.address);
  await run(`${noise}\nshow({ accuracy: accuracyM });`, "");
  const city = await serve({ cell: "1km", epsilon: "1/km", local: true });
  try {
    // The city of the test has fewer places than an owner would want.
    await run(`${local.replace("{ protects", "{ leastPlaces: 10, protects")}\nshow({ accuracy: report.accuracyM });`, city.address);
  } finally {
    await city.stop();
  }
});

test("noise and mode local in a page: it stays responsive, and two positions cause identical requests", async () => {
  const city = await serve({ cell: "1km", epsilon: "1/km", local: true });
  try {
    const traffic = async (at) => {
      const { page, asked, errors } = await open();
      asked.length = 0;
      const found = await page.evaluate(
        async ({ address, at }) => {
          const { Client, MemoryStorage } = await import("/local.js");
          const options = { protects: "relevant-places", leastPlaces: 10, privacy: "1.1/km", storage: new MemoryStorage() };
          const client = new Client(address, options);
          let longest = 0;
          let last = performance.now();
          const turning = setInterval(() => {
            longest = Math.max(longest, performance.now() - last);
            last = performance.now();
          }, 5);
          const report = await client.report(at, { seed: 5, forced: 7 });
          clearInterval(turning);
          await client.close();
          return { report, longest };
        },
        { address: city.address, at },
      );
      assert.deepEqual([found.report.mode, found.report.place], ["local", 7]);
      assert.deepEqual(errors, []);
      assert.ok(asked.every(([, url]) => url.startsWith(origin) || url.startsWith(city.address)));
      // Modules of the package are loaded from the page's own origin, in whatever order.
      return { sent: asked.filter(([, url]) => url.startsWith(city.address)), longest: found.longest };
    };
    const here = await traffic({ lat, lon });
    const there = await traffic({ lat: lat + 0.012, lon: lon - 0.01 });
    assert.deepEqual(there.sent, here.sent);
    assert.ok(here.sent.length > 3 && Math.min(here.longest, there.longest) < 1000);
    const { page, asked, errors } = await open();
    asked.length = 0;
    const report = await page.evaluate(
      async ({ lat, lon }) => {
        const { Noise } = await import("/noise.js");
        return await new Noise("factor 2 within 300 m").report({ lat, lon });
      },
      { lat, lon },
    );
    assert.ok(report.accuracyM > 2000 && !report.remembered);
    assert.deepEqual(errors, []);
    assert.ok(asked.every(([, url]) => url.startsWith(origin)), "noise asked somebody");
  } finally {
    await city.stop();
  }
});
