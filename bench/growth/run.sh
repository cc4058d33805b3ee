#!/bin/sh
# How time and memory grow with places, users and places per user: one picture. `--up-to 800` takes a minute.
set -eu
cd "$(dirname "$0")/../.."
cargo build --release -q -j2 -p lrgeo-optim --example engine --example large
exec python3 bench/growth/measure.py "$@"
