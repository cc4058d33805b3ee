/// All files of the page; written by web/vite.config.js.
#[rustfmt::skip]
const FILES: &[Asset] = &[
    Asset { name: "index.html", media: "text/html; charset=utf-8", bytes: include_bytes!("index.html") },
    Asset { name: "assets/__vite-browser-external-UfK9GVxM.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/__vite-browser-external-UfK9GVxM.js") },
    Asset { name: "assets/compute-CC8enmzO.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/compute-CC8enmzO.js") },
    Asset { name: "assets/device-C6SF8FdS.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/device-C6SF8FdS.js") },
    Asset { name: "assets/icon-CrHWZp5A.svg", media: "image/svg+xml", bytes: include_bytes!("assets/icon-CrHWZp5A.svg") },
    Asset { name: "assets/index-B6W0sMif.css", media: "text/css; charset=utf-8", bytes: include_bytes!("assets/index-B6W0sMif.css") },
    Asset { name: "assets/index-CauTzAtS.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/index-CauTzAtS.js") },
    Asset { name: "assets/local-BtFaXU_A.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/local-BtFaXU_A.js") },
    Asset { name: "assets/local-worker-Dn3sxXbK.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/local-worker-Dn3sxXbK.js") },
    Asset { name: "assets/lrgeo_bg-Cm5R4FKN.wasm", media: "application/wasm", bytes: include_bytes!("assets/lrgeo_bg-Cm5R4FKN.wasm") },
    Asset { name: "assets/lrgeo_bg-D9tjf_L_.wasm", media: "application/wasm", bytes: include_bytes!("assets/lrgeo_bg-D9tjf_L_.wasm") },
    Asset { name: "assets/maplibre-Byu0ODoA.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/maplibre-Byu0ODoA.js") },
    Asset { name: "assets/maplibre-gl-worker-CZtFQQIV.mjs", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/maplibre-gl-worker-CZtFQQIV.mjs") },
    Asset { name: "assets/maplibre-qvkd0SPb.css", media: "text/css; charset=utf-8", bytes: include_bytes!("assets/maplibre-qvkd0SPb.css") },
    Asset { name: "assets/rolldown-runtime-WkwZ5CU-.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("assets/rolldown-runtime-WkwZ5CU-.js") },
];
