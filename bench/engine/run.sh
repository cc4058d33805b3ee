#!/bin/sh
# One table of ratios in one run: the engine against HiGHS, qif and numpy. `--full` for all instances.
set -eu
cd "$(dirname "$0")/../.."
if [ ! -x bench/.venv/bin/python ]; then
    python3 -m venv bench/.venv
    bench/.venv/bin/pip install -q numpy highspy qif
fi
cargo build --release -q -p lrgeo-optim --example engine
exec bench/.venv/bin/python bench/engine/peers.py "$@"
