// A real server on the demo city, and a real browser.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { chromium } from "playwright-core";

const binary = process.env.LRGEO;
if (!binary) throw new Error("LRGEO must name the binary of lrgeo");

/** Names on the map, by the number of a place. */
const NAMES = { 0: "South end", 140: "Old town", 90: "Market", 200: "North bridge" };

/** Noise, tiles and a public y at 1/km on the cells of `lrgeo demo`; rounds and costs to be seen. */
export async function serve() {
  const folder = mkdtempSync(join(tmpdir(), "lrgeo-page-"));
  const run = (...args) => execFileSync(binary, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] }).toString();
  run("map", "build", "--demo", "--cell", "500m", "-o", "city.lrmap", "-q");
  run("mechanism", "build", "city.lrmap", "--kind", "published", "--epsilon", "1/km", "--time-limit", "20s", "-o", "m.lrmech", "-q");
  run("key", "new", "-o", "k");
  run("publish", "m.lrmech", "--key", "k", "-o", "tiles", "-q");
  run("map", "export", "city.lrmap", "--places-csv", "places.csv", "-q");
  const places = readFileSync(join(folder, "places.csv"), "utf8").trim().split("\n").map((line) => line.split(","));
  const [lat, lon] = ["lat", "lon"].map((name) => places[0].indexOf(name));
  const at = (place) => ({ lat: Number(places[place + 1][lat]), lon: Number(places[place + 1][lon]) });
  const marks = Object.entries(NAMES).map(([place, name]) => `[[page.landmarks]]\nname = "${name}"\nat = [${at(Number(place)).lat}, ${at(Number(place)).lon}]\n`);
  writeFileSync(join(folder, "c.toml"), `[privacy]\nepsilon = "1/km"\n[page]\ncosts = true\n${marks.join("")}`);
  const address = await started(folder, ["--map", "city.lrmap", "--tiles", "tiles", "--key", "k", "--data", "data", "--config", "c.toml"]);
  return { ...address, folder, run, at };
}

async function started(folder, args) {
  const server = spawn(binary, ["serve", "--listen", "127.0.0.1:0", ...args], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: server.stdout }).once("line", (line) => resolve(line.match(/http:\/\/\S+/)[0]));
    server.once("exit", () => reject(new Error("the server did not start")));
  });
  const stop = async () => {
    server.kill();
    await new Promise((resolve) => server.once("exit", resolve));
    rmSync(folder, { recursive: true });
  };
  return { address, stop };
}

/** Chromium with WebGL in software, which asks for nothing by itself. */
export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });

/** A page of the service at a fragment, with everything that it asked for and complained about. */
export async function open(browser, address, hash = "", { width = 1280, height = 800, scheme = "light", before } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  const asked = [];
  const errors = [];
  page.on("request", (request) => asked.push([request.method(), request.url(), request.postDataBuffer()?.toString("hex") ?? ""]));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && !/GPU stall|GL Driver/.test(message.text()) && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  if (before) await page.addInitScript(before.script, before.value);
  await page.goto(`${address}/${hash}`);
  await page.waitForSelector("body[data-ready]", { timeout: 60_000 });
  return { page, context, asked, errors };
}
