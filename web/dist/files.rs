/// All files of the page; written by web/vite.config.js.
#[rustfmt::skip]
const FILES: &[Asset] = &[
    Asset { name: "index.html", media: "text/html; charset=utf-8", bytes: include_bytes!("index.html") },
    Asset { name: "assets/__vite-browser-external-DpnErnqa.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/__vite-browser-external-DpnErnqa.js") },
    Asset { name: "assets/compute-BP37Hdxj.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/compute-BP37Hdxj.js") },
    Asset { name: "assets/device-47CMmCxA.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/device-47CMmCxA.js") },
    Asset { name: "assets/icon-CrHWZp5A.svg", media: "image/svg+xml", bytes: include_bytes!("assets/icon-CrHWZp5A.svg") },
    Asset { name: "assets/index-B4bf7U89.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/index-B4bf7U89.js") },
    Asset { name: "assets/index-D1yVecmc.css", media: "text/css; charset=utf-8", bytes: include_bytes!("assets/index-D1yVecmc.css") },
    Asset { name: "assets/lrgeo_bg-D9vKyzd0.wasm", media: "application/wasm", bytes: include_bytes!("assets/lrgeo_bg-D9vKyzd0.wasm") },
    Asset { name: "assets/maplibre-Byu0ODoA.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/maplibre-Byu0ODoA.js") },
    Asset { name: "assets/maplibre-gl-worker-CZtFQQIV.mjs", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/maplibre-gl-worker-CZtFQQIV.mjs") },
    Asset { name: "assets/maplibre-qvkd0SPb.css", media: "text/css; charset=utf-8", bytes: include_bytes!("assets/maplibre-qvkd0SPb.css") },
];
