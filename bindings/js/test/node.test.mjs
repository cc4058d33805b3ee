import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { after, before, test } from "node:test";

import { Client, LrgeoError, MemoryStorage } from "lrgeo";
import { BlurredGeolocation } from "lrgeo/geolocation";
import { serve } from "./service.mjs";

const golden = JSON.parse(readFileSync(new URL("../../golden.json", import.meta.url)));
const [{ lat, lon }] = golden.reports;

let service;
before(async () => (service = await serve()));
after(() => service.stop());

/** Fetches, and writes down what was sent. */
function recording(sent, change = (answer) => answer) {
  return async (url, options) => {
    sent.push(JSON.stringify([url, options.method, options.headers, options.body ? [...options.body] : null]));
    return change(await fetch(url, options), url);
  };
}

test("somebody reports, and is remembered for it", async () => {
  const client = new Client(service.address, { storage: new MemoryStorage(), targets: 2 });
  const first = await client.report({ lat, lon });
  assert.ok(first.accuracyM > 100 && !first.remembered && first.spentPerKm > 0 && first.firstUse);
  assert.equal(first.targets.length, 2);
  const again = await client.report({ lat: lat + 1e-5, lon });
  assert.ok(again.remembered && again.spentPerKm === 0);
  assert.deepEqual([again.lat, again.lon], [first.lat, first.lon]);
  const { lat: north, lon: east } = golden.reports[5];
  const published = await client.report({ lat: north, lon: east }, { mode: "published" });
  assert.equal(published.mode, "published");
});

test("reports are those of every other language", async () => {
  for (const { lat, lon, seed, report } of golden.reports) {
    const client = new Client(service.address, { storage: new MemoryStorage() });
    assert.equal((await client.report({ lat, lon }, { seed })).place, report);
  }
});

test("what is sent does not depend on where one is", async () => {
  for (const mode of ["coordinates", "published"]) {
    const traffic = async (at) => {
      const sent = [];
      const client = new Client(service.address, { storage: new MemoryStorage(), fetch: recording(sent) });
      await client.report(at, { mode, seed: 3, forced: 7 });
      return sent;
    };
    const here = await traffic({ lat, lon });
    assert.deepEqual(await traffic({ lat: lat + 0.004, lon: lon - 0.003 }), here);
    assert.ok(here.length > 3);
  }
});

test("a lie is refused and nothing is reported", async () => {
  const sent = [];
  const change = async (answer, url) => {
    if (!url.includes("/v1/noise")) return answer;
    const bytes = new Uint8Array(await answer.arrayBuffer());
    bytes[bytes.length >> 1] ^= 1;
    return new Response(bytes, { headers: answer.headers });
  };
  const client = new Client(service.address, { storage: new MemoryStorage(), fetch: recording(sent, change) });
  await assert.rejects(client.report({ lat, lon }), (error) => error instanceof LrgeoError && error.kind === "lie");
  assert.ok(!sent.some((line) => line.includes("/v1/reports")));
});

test("what cannot be remembered is not reported", async () => {
  const sent = [];
  const storage = { get: async () => null, set: async () => { throw new Error("quota"); } };
  const client = new Client(service.address, { storage, fetch: recording(sent) });
  await assert.rejects(client.report({ lat, lon }), (error) => error.kind === "storage" && /quota/.test(error.message));
  assert.ok(!sent.some((line) => line.includes("/v1/reports")));
});

test("the owner's rules are kept", async () => {
  const client = new Client(service.address, { storage: new MemoryStorage(), privacy: "factor 2 within 3 km" });
  await assert.rejects(client.report({ lat, lon }), (error) => error.kind === "policy");
  await assert.rejects(client.report({ lat: NaN, lon }), /latitude/);
  const nobody = new Client("http://127.0.0.1:1", { storage: new MemoryStorage() });
  await assert.rejects(nobody.report({ lat, lon }), (error) => error.kind === "transport");
});

test("a drop-in geolocation tells what is reported, and watching spends nothing while one stays", async () => {
  let told;
  const source = {
    getCurrentPosition: (success) => success({ coords: { latitude: lat, longitude: lon, speed: 3, heading: 90 }, timestamp: 1234567890123 }),
    watchPosition: (success) => ((told = success), 9),
    clearWatch: (id) => assert.equal(id, 9),
  };
  const client = new Client(service.address, { storage: new MemoryStorage() });
  const blurred = new BlurredGeolocation(client, source);
  const position = await new Promise((resolve, reject) => blurred.getCurrentPosition(resolve, reject, { accuracyMode: "approximate" }));
  const { coords } = position;
  assert.ok(coords.accuracy > 100 && coords.speed === null && coords.heading === null && coords.altitude === null);
  assert.equal(position.accuracyMode, "approximate");
  assert.equal(position.timestamp % 60000, 0);
  const seen = [];
  const id = blurred.watchPosition((p) => seen.push(p.coords));
  for (let fix = 0; fix < 20; fix++) {
    told({ coords: { latitude: lat + 1e-5 * (fix % 3), longitude: lon }, timestamp: Date.now() });
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  await client.report({ lat, lon });
  assert.equal(seen.length, 1, "one who stays is told once");
  assert.deepEqual([seen[0].latitude, seen[0].longitude], [coords.latitude, coords.longitude]);
  blurred.clearWatch(id);
});

test("the module is small", () => {
  const kilobytes = gzipSync(readFileSync(new URL("../wasm/lrgeo_bg.wasm", import.meta.url)), { level: 9 }).length / 1000;
  assert.ok(kilobytes < 300, `${kilobytes} kB gzipped`);
});
