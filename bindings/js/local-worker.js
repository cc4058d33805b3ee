// The worker of local.js: holds reports on their way, and takes their steps one after the other.

import init, { Report } from "./wasm-local/lrgeo.js";

const inNode = typeof process !== "undefined" && Boolean(process.versions?.node);
const port = inNode ? (await import("node:worker_threads")).parentPort : self;
const ways = new Map();
let next = 1;
let ready;

/** The linear algebra uses relaxed SIMD, which every Chromium since 114 has. Up to version 21 node has it behind a flag. */
async function allowRelaxedSimd() {
  if (!inNode || Number(process.versions.node.split(".")[0]) >= 22) return;
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--experimental-wasm-relaxed-simd");
}

async function load(source) {
  await allowRelaxedSimd();
  if (source === undefined && inNode) {
    const { readFile } = await import("node:fs/promises");
    source = await readFile(new URL("./wasm-local/lrgeo_bg.wasm", import.meta.url));
  }
  await init({ module_or_path: source ?? new URL("./wasm-local/lrgeo_bg.wasm", import.meta.url) });
}

async function take(method, way, args) {
  if (method === "begin") {
    const [source, ...asked] = args;
    await (ready ??= load(source));
    ways.set(next, new Report(...asked));
    return next++;
  }
  const report = ways.get(way);
  if (method === "free") ways.delete(way);
  return report[method](...args);
}

// In order: an answer must be there before the next step is asked for.
let queue = Promise.resolve();
function heard({ id, way, method, args }) {
  queue = queue
    .then(() => take(method, way, args))
    .then(
      (value) => port.postMessage({ id, value }),
      (error) => port.postMessage({ id, error: String(error?.message ?? error) }),
    );
}
if (inNode) port.on("message", heard);
else port.onmessage = ({ data }) => heard(data);
