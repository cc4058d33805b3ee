//! `lrgeo-js-bindgen MODULE.wasm FOLDER`: a module and its JavaScript for pages, workers and node.

use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(module), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("needs a module and a folder: lrgeo-js-bindgen MODULE.wasm FOLDER".into());
    };
    Bindgen::new()
        .input_path(module)
        .web(true)?
        .out_name("lrgeo")
        .typescript(true)
        .generate(folder)?;
    Ok(())
}
