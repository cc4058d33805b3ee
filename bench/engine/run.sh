#!/bin/sh
# One table of ratios in one run: the engine against HiGHS, OR-Tools, qif and numpy. `--full` for all instances.
set -eu
cd "$(dirname "$0")/../.."
# Other benchmarks make the same environment with fewer packages in it.
if ! bench/.venv/bin/python -c 'import highspy_extras, qif, importlib.util as u; assert u.find_spec("ortools")' 2>/dev/null; then
    python3 -m venv bench/.venv
    bench/.venv/bin/pip install -q numpy scipy 'highspy[extras]' ortools qif
fi
cargo build --release -q -p lrgeo-optim --example engine
exec bench/.venv/bin/python bench/engine/peers.py "$@"
