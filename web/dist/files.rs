/// All files of the page; written by web/vite.config.js.
#[rustfmt::skip]
const FILES: &[Asset] = &[
    Asset { name: "index.html", media: "text/html; charset=utf-8", bytes: include_bytes!("index.html") },
    Asset { name: "assets/__vite-browser-external-Dgdqv74B.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/__vite-browser-external-Dgdqv74B.js") },
    Asset { name: "assets/compute-5YFIfMT-.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/compute-5YFIfMT-.js") },
    Asset { name: "assets/device-C8ja9TpV.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/device-C8ja9TpV.js") },
    Asset { name: "assets/icon-CrHWZp5A.svg", media: "image/svg+xml", bytes: include_bytes!("assets/icon-CrHWZp5A.svg") },
    Asset { name: "assets/index-D1yVecmc.css", media: "text/css; charset=utf-8", bytes: include_bytes!("assets/index-D1yVecmc.css") },
    Asset { name: "assets/index-DwQ3W8bF.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/index-DwQ3W8bF.js") },
    Asset { name: "assets/lrgeo_bg-8YW-WuxV.wasm", media: "application/wasm", bytes: include_bytes!("assets/lrgeo_bg-8YW-WuxV.wasm") },
    Asset { name: "assets/maplibre-Byu0ODoA.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/maplibre-Byu0ODoA.js") },
    Asset { name: "assets/maplibre-gl-worker-CZtFQQIV.mjs", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/maplibre-gl-worker-CZtFQQIV.mjs") },
    Asset { name: "assets/maplibre-qvkd0SPb.css", media: "text/css; charset=utf-8", bytes: include_bytes!("assets/maplibre-qvkd0SPb.css") },
];
