// The page, as files that the server compiles in: `files.rs` lists them for it.

import { readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const media = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  wasm: "application/wasm",
};

/** Names of all files of the bundle, as a Rust array of them. */
function listedForRust() {
  return {
    name: "listed-for-rust",
    closeBundle() {
      const files = ["index.html", ...readdirSync(here("dist/assets")).sort().map((name) => `assets/${name}`)];
      const entry = (name) => {
        const type = media[name.split(".").pop()];
        if (!type) throw new Error(`what is ${name}? Say so in vite.config.js`);
        return `    Asset { name: "${name}", media: "${type}", bytes: include_bytes!("${name}") },\n`;
      };
      writeFileSync(here("dist/files.rs"), `/// All files of the page; written by web/vite.config.js.\n#[rustfmt::skip]\nconst FILES: &[Asset] = &[\n${files.map(entry).join("")}];\n`);
    },
  };
}

export default defineConfig({
  base: "./",
  resolve: { alias: { "lrgeo/local": here("../bindings/js/local.js"), lrgeo: here("../bindings/js/index.js") } },
  build: { target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 2000, modulePreload: { polyfill: false }, reportCompressedSize: false,
    // MapLibre apart: it changes seldom, and the committed bundle with it.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "maplibre", test: /node_modules/ }] } } },
  },
  worker: { format: "es" },
  plugins: [listedForRust()],
  server: { proxy: { "/v1": process.env.LRGEO_SERVER ?? "http://127.0.0.1:8417" }, fs: { allow: [here("..")] } },
});
