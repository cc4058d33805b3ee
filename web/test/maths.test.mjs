// What the page computes is what Rust computes: rows of the noise for coordinates, at the server's epsilon from the server's table and at another
// one from a table of the page's own.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

import { build } from "vite";

const binary = process.env.LRGEO;
const folder = mkdtempSync(join(tmpdir(), "lrgeo-maths-"));
const run = (...args) => execFileSync(binary, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] }).toString();
const here = (path) => new URL(path, import.meta.url).pathname;
let maths;

before(async () => {
  await build({ configFile: false, logLevel: "error", root: here("."), build: { outDir: folder, emptyOutDir: false, minify: false, lib: { entry: here("maths.entry.ts"), formats: ["es"], fileName: () => "maths.mjs" } } });
  maths = await import(pathToFileURL(join(folder, "maths.mjs")).href);
  run("map", "build", "--demo", "--cell", "500m", "-o", "city.lrmap", "-q");
  run("key", "new", "-o", "k");
  for (const epsilon of [1, 2]) {
    run("mechanism", "build", "city.lrmap", "--kind", "laplace", "--epsilon", `${epsilon}/km`, "-o", `${epsilon}.lrmech`, "-q");
    run("publish", `${epsilon}.lrmech`, "--key", "k", "-o", `public-${epsilon}`, "-q");
  }
});
after(() => rmSync(folder, { recursive: true }));

const view = (path) => {
  const bytes = readFileSync(join(folder, path));
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};

/** The published files of an epsilon, as the page has them. */
function published(epsilon) {
  const [place] = readdirSync(join(folder, `public-${epsilon}/places`));
  const [noise] = readdirSync(join(folder, `public-${epsilon}/noise`));
  const { lat, lon, prior } = maths.decodePlaces(view(`public-${epsilon}/places/${place}`));
  const { lattice, centre, area } = maths.decodeNoise(view(`public-${epsilon}/noise/${noise}`));
  const places = new maths.Places(lat, lon, prior, 0.5, centre);
  return { places, lattice, area };
}

/** What Rust says. */
function rows(epsilon, points) {
  writeFileSync(join(folder, "points.csv"), `lat,lon\n${points.map(({ lat, lon }) => `${lat},${lon}`).join("\n")}\n`);
  run("mechanism", "rows", `${epsilon}.lrmech`, "--points", "points.csv", "--npy", "rows.npy", "-q");
  return numpy("rows.npy", points.length);
}

/** The rows of a matrix of doubles. */
function numpy(path, height) {
  const bytes = readFileSync(join(folder, path));
  const start = 10 + bytes.readUInt16LE(8);
  const width = (bytes.length - start) / 8 / height;
  return Array.from({ length: height }, (_, n) => Float64Array.from({ length: width }, (_, k) => bytes.readDoubleLE(start + 8 * (n * width + k))));
}

const people = ({ places }) => [3, 77, 140, 260].map((place, n) => ({ lat: places.lat[place] + 0.0007 * (n - 1), lon: places.lon[place] + 0.001 * n }));

test("rows from the server's table are those of Rust", () => {
  const one = published(1);
  const blur = new maths.NoiseBlur(one.lattice, one.places, new maths.Costs(one.places, null, new Float64Array()));
  const points = people(one);
  rows(1, points).forEach((expected, n) => {
    const row = blur.row(one.places.plane.project(points[n]));
    expected.forEach((value, k) => assert.ok(Math.abs(row[k] - value) <= 1e-12 + 1e-9 * value, `${n} ${k}: ${row[k]} for ${value}`));
  });
});

test("the lattice of another epsilon is the one that Rust makes, and sums over the map are near the exact rows", () => {
  const [one, two] = [published(1), published(2)];
  const own = maths.latticeFor(2, one.area);
  assert.ok(Math.abs(own.rate / two.lattice.rate - 1) < 1e-12);
  assert.deepEqual([own.spacingKm, own.first, own.squares], [two.lattice.spacingKm, two.lattice.first, two.lattice.squares]);
  const blur = new maths.NoiseBlur(two.lattice, two.places, new maths.Costs(two.places, null, new Float64Array()));
  for (const place of [0, 99, 222]) {
    const exact = blur.row(two.places.point(place));
    const near = new Float64Array(two.places.count);
    blur.nearRow(place, near);
    const apart = exact.reduce((sum, value, k) => sum + Math.abs(value - near[k]), 0);
    assert.ok(apart < 0.01, `${apart}`);
  }
});

test("reports that the page chooses for another epsilon are those of Rust, nearly everywhere", () => {
  const two = published(2);
  run("map", "export", "city.lrmap", "--costs", "losses.npy", "-q");
  const losses = numpy("losses.npy", two.places.count);
  const blur = new maths.NoiseBlur(maths.latticeFor(2, two.area), two.places, { isExact: true, row: (i) => losses[i] });
  const points = people(two);
  rows(2, points).forEach((expected, n) => {
    const row = blur.row(two.places.plane.project(points[n]));
    const apart = expected.reduce((sum, value, k) => sum + Math.abs(value - row[k]), 0) / 2;
    assert.ok(apart < 0.05, `${apart} of the reports of person ${n} are others`);
  });
});

test("an attacker's belief adds up, and remembering tells no more than one report", () => {
  const one = published(1);
  const blur = new maths.NoiseBlur(one.lattice, one.places, new maths.Costs(one.places, null, new Float64Array()));
  const home = one.places.coordinate(140);
  let state = 1;
  const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
  const fixes = maths.fixesOf("stay", [home, home], random);
  const fresh = maths.follow(fixes, blur, one.places, 0, random);
  const kept = maths.follow(fixes, blur, one.places, 1, random);
  for (const moment of [...fresh, ...kept]) assert.ok(Math.abs(moment.belief.reduce((a, b) => a + b, 0) - 1) < 1e-5);
  assert.equal(kept.filter(({ isFresh }) => isFresh).length, 1);
  assert.equal(kept.at(-1).hiddenAmong, kept[0].hiddenAmong);
  assert.ok(fresh.at(-1).hiddenAmong < 0.5 * kept.at(-1).hiddenAmong, `${fresh.at(-1).hiddenAmong} and ${kept.at(-1).hiddenAmong}`);
});
