#!/bin/sh
# Builds the engine for WebAssembly, solves one OMG and one CLR-Geo in node, and compares with the native build.
# Writes bench/results/wasm.md. Needs node and a compiler with the standard library's sources. Where rustup cannot fetch the wasm32 target, Debian's
# rustc-web serves (unpacked, nothing is installed); rust-lld comes with any rustup toolchain.
#   bench/wasm/run.sh [FOLDER]    unpack Debian's packages there (default: target/wasm-toolchain)
set -eu
cd "$(dirname "$0")/../.."
tools=${1:-$PWD/target/wasm-toolchain}
packages="rustc-web rust-web-src libstd-rust-web-dev libstd-rust-web-1.96 rust-web-llvm libllvm22"
if [ ! -x "$tools/root/usr/bin/rustc" ]; then
    mkdir -p "$tools/debs" "$tools/root"
    (cd "$tools/debs" && apt-get download $packages)
    for package in "$tools"/debs/*.deb; do dpkg -x "$package" "$tools/root"; done
fi
usr=$tools/root/usr
linker=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld

cargo build -q --release -p lrgeo-optim --example wasm-native
export LD_LIBRARY_PATH=$usr/lib/x86_64-linux-gnu
RUSTC=$usr/bin/rustc RUSTC_BOOTSTRAP=1 \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$linker CARGO_TARGET_DIR=$tools/target \
    cargo build -q --release -Zbuild-std=std,panic_abort --target wasm32-unknown-unknown \
    -p lrgeo-optim --no-default-features --example wasm
# Up to version 21 node has the instructions that the linear algebra uses behind a flag.
relaxed=
case $(node --version) in v1?.* | v20.* | v21.*) relaxed=--experimental-wasm-relaxed-simd ;; esac
module=$tools/target/wasm32-unknown-unknown/release/examples/wasm.wasm
found=$("${CARGO_TARGET_DIR:-target}/release/examples/wasm-native" | node $relaxed bench/wasm/compare.mjs "$module")
{
    printf '# The engine in WebAssembly\n\n'
    printf 'One OMG (100 places) and one round of CLR-Geo (4 users, |N_m| = 20) to a gap of 1e-6, in node and natively. Run: `bench/wasm/run.sh`.\n\n'
    printf '```text\n%s\nnode %s\nmodule: %s KB\n%s\n```\n' \
        "$("$usr/bin/rustc" --version)" "$(node --version)" "$(($(wc -c <"$module") / 1024))" "$found"
} | tee bench/results/wasm.md
