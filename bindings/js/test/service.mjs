// A real server on the demo city, for tests.

import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const binary = process.env.LRGEO;
if (!binary) throw new Error("LRGEO must name the binary of lrgeo");

/** For the golden vectors; `local` has a smaller city, whose public y takes no time, and every mode. */
export async function serve({ cell = "500m", epsilon = "2/km", local = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "lrgeo-js-"));
  const run = (...args) => execFileSync(binary, args, { cwd: folder, stdio: "pipe" });
  run("map", "build", "--demo", "--cell", cell, "-o", "city.lrmap");
  run("mechanism", "build", "city.lrmap", "--kind", "exp", "--all-pairs", "--epsilon", epsilon, "-o", "m.lrmech", "-q");
  run("key", "new", "-o", "k");
  run("publish", "m.lrmech", "--key", "k", "-o", "tiles", "-q");
  run("map", "export", "city.lrmap", "--places-csv", "places.csv");
  writeFileSync(join(folder, "c.toml"), `[privacy]\nepsilon = "${epsilon}"\nlocal = ${local}\n[browsers]\norigins = ["*"]\n`);
  const args = ["serve", "--map", "city.lrmap", "--tiles", "tiles", "--key", "k", "--data", "data", "--listen", "127.0.0.1:0", "--config", "c.toml"];
  const server = spawn(binary, args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: server.stdout }).once("line", (line) => resolve(line.match(/http:\/\/\S+/)[0]));
    server.once("exit", () => reject(new Error("the server did not start")));
  });
  return {
    address,
    stop: async () => {
      server.kill();
      await new Promise((resolve) => server.once("exit", resolve));
      rmSync(folder, { recursive: true });
    },
  };
}
