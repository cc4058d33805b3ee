// Runs the module in node and compares with what the native build printed (standard input).
import { readFileSync } from 'node:fs';

const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const { omg, clr } = instance.exports;
const native = new Map(
  readFileSync(0, 'utf8').trim().split('\n').map((line) => line.split(' ')),
);
let failed = false;
for (const [name, solve] of [['omg', () => omg(10, 2.0)], ['clr', () => clr(10, 4, 20, 2.0)]]) {
  const begun = performance.now();
  const here = solve();
  const there = Number(native.get(name));
  const off = Math.abs(here / there - 1);
  console.log(
    `${name}: wasm ${here.toPrecision(12)} (${(performance.now() - begun).toFixed(0)} ms), ` +
      `native ${there.toPrecision(12)}, relative difference ${off.toExponential(1)}`,
  );
  failed ||= !(off <= 2e-6); // both are within 1e-6 of the optimum
}
process.exit(failed ? 1 : 0);
