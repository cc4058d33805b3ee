#!/bin/sh
# Fine maps and real priors, in one run and in units of one well-known solve. `run.sh [--smoke]`
set -eu
cd "$(dirname "$0")/../.."
cargo build --release -q -j2 -p lrgeo-optim --example engine
cargo build --release -q -j2 -p lrgeo-bench-fine
exec python3 bench/fine/measure.py "$@"
