#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lrgeo_fuzz_runs::run_by_name("settings", bytes));
