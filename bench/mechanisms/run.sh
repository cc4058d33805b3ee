#!/bin/sh
# Mechanisms on Rome next to the paper's figures, and a round against HiGHS. `run.sh [tables|growth|published|published-fine|round]..`
set -eu
cd "$(dirname "$0")/../.."
if [ ! -x bench/.venv/bin/python ]; then
    python3 -m venv bench/.venv
    bench/.venv/bin/pip install -q numpy highspy qif
fi
exec cargo run --release -q -p lrgeo-bench-mechanisms -- "$@"
