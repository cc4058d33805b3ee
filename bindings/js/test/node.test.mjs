import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { after, before, test } from "node:test";

import { Client, LrgeoError, MemoryStorage } from "lrgeo";
import { BlurredGeolocation } from "lrgeo/geolocation";
import { Client as LocalClient } from "lrgeo/local";
import { Noise } from "lrgeo/noise";
import { serve } from "./service.mjs";

const golden = JSON.parse(readFileSync(new URL("../../golden.json", import.meta.url)));
const [{ lat, lon }] = golden.reports;

let service;
before(async () => (service = await serve()));
after(() => service.stop());

function metres(a, b) {
  return 111195 * Math.hypot(a.lat - b.lat, (a.lon - b.lon) * Math.cos((a.lat * Math.PI) / 180));
}

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

test("noise needs no service: draws are remembered, and accuracy is honest", async () => {
  const storage = new MemoryStorage();
  const noise = new Noise("factor 2 within 300 m", { storage });
  const first = await noise.report({ lat, lon });
  assert.ok(!first.remembered && Math.abs(first.spentPerKm - Math.LN2 / 0.3) < 1e-9);
  const again = await new Noise("factor 2 within 300 m", { storage }).report({ lat: lat + 1e-4, lon });
  assert.ok(again.remembered && again.spentPerKm === 0 && again.lat === first.lat && again.lon === first.lon);
  const about = await noise.about();
  assert.ok(about.provenPerKm <= about.epsilonPerKm && about.provenPerKm > 0.998 * about.epsilonPerKm);
  assert.ok(about.within(about.accuracyM) > 0.95 && about.within(0) === 0);
  // The density is one in all.
  let sum = 0;
  for (let metres = 0; metres < 20000; metres += 10) sum += about.density(metres + 5) * 2 * Math.PI * ((metres + 5) / 1000) * 0.01;
  assert.ok(Math.abs(sum - 1) < 1e-3, `${sum}`);
  let held = 0;
  const draws = 40;
  for (let seed = 1; seed <= draws; seed++) {
    const report = await new Noise("factor 2 within 300 m", { storage: new MemoryStorage(), seed }).report({ lat, lon });
    held += metres(report, { lat, lon }) <= report.accuracyM;
  }
  assert.ok(held >= 35, `${held} of ${draws}`);
  assert.equal((await noise.account()).reports, 1);
});

test("noise reports public places where there are some, and refuses nonsense by name", async () => {
  const places = [];
  for (let k = 0; k < 400; k++) places.push([lat + 0.004 * (Math.floor(k / 20) - 10), lon + 0.005 * ((k % 20) - 10), 1 + (k % 3)]);
  const report = await new Noise("factor 2 within 300 m", { storage: new MemoryStorage(), places }).report({ lat, lon });
  assert.ok(places.some(([north, east]) => north === report.lat && east === report.lon));
  const refused = (privacy, options, at, words) => assert.rejects(new Noise(privacy, { storage: new MemoryStorage(), ...options }).report(at), words);
  await refused("factor 2 within a mile", {}, { lat, lon }, /factor 2 within 300 m/);
  await refused("factor 2 within 1 m", {}, { lat, lon }, /epsilon/);
  await refused("2/km", { places: [[1, 2]] }, { lat, lon }, /places/);
  await refused("2/km", {}, { lat: NaN, lon }, /latitude/);
  await refused("2/km", {}, { lat: 89, lon }, /poles/);
  await refused("2/km", { storage: { get: async () => "{}", set: async () => {} } }, { lat, lon }, (error) => error.kind === "storage");
  const capped = new Noise("2/km", { storage: new MemoryStorage(), perDayPerKm: 3 });
  await capped.report({ lat, lon });
  await assert.rejects(capped.report({ lat: lat + 0.1, lon }), (error) => error instanceof LrgeoError && error.kind === "spent");
});

test("mode local is solved in a worker; what is sent does not depend on where one is, in any mode", async () => {
  const city = await serve({ cell: "1km", epsilon: "1/km", local: true });
  try {
    const options = { protects: "relevant-places", leastPlaces: 10, privacy: "1.1/km" };
    for (const mode of ["local", "published", "coordinates"]) {
      const traffic = async (at) => {
        const sent = [];
        const client = new LocalClient(city.address, { ...options, storage: new MemoryStorage(), fetch: recording(sent) });
        const report = await client.report(at, { mode, seed: 3, forced: 7 });
        await client.close();
        assert.deepEqual([report.mode, report.place], [mode, 7]);
        return sent;
      };
      const here = await traffic({ lat, lon });
      assert.deepEqual(await traffic({ lat: lat + 0.012, lon: lon - 0.01 }), here, mode);
      assert.ok(here.length > 3);
    }
    const client = new LocalClient(city.address, { ...options, storage: new MemoryStorage() });
    let turns = 0;
    const turning = setInterval(() => turns++, 5);
    const first = await client.report({ lat, lon });
    clearInterval(turning);
    assert.ok(first.mode === "local" && first.accuracyM > 100 && first.spentPerKm > 0 && turns > 1);
    assert.ok((await client.report({ lat, lon })).remembered);
    await client.close();
    const careful = new LocalClient(city.address, { ...options, protects: "all-pairs", storage: new MemoryStorage() });
    await assert.rejects(careful.report({ lat, lon }), (error) => error instanceof LrgeoError && error.kind === "policy");
    await careful.close();
    const small = new Client(city.address, { ...options, storage: new MemoryStorage() });
    await assert.rejects(small.report({ lat, lon }, { mode: "local" }), /local/);
  } finally {
    await city.stop();
  }
});

test("the modules are small", () => {
  const kilobytes = (folder) => gzipSync(readFileSync(new URL(`../${folder}/lrgeo_bg.wasm`, import.meta.url)), { level: 9 }).length / 1000;
  assert.ok(kilobytes("wasm") < 300, `${kilobytes("wasm")} kB gzipped`);
  assert.ok(kilobytes("wasm-local") < 900, `${kilobytes("wasm-local")} kB gzipped`);
});
