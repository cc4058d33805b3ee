#!/usr/bin/env bash
# Instructions of two fixed solves beside those recorded: unlike seconds, they are the same on a busy machine.
# `--record` writes the numbers down. Printed by ./test; it judges nothing, because compilers differ.
set -euo pipefail
cd "$(dirname "$0")/../.."
recorded=bench/engine/instructions.txt
if ! command -v valgrind >/dev/null; then
  echo "valgrind is not installed: instruction counts left out"
  exit 0
fi
cargo build -q --release -j2 -p lrgeo-optim --example engine
out=$(mktemp)
trap 'rm -f "$out" "$out".*' EXIT
[ "${1:-}" = "--record" ] && : >"$recorded"
for solve in "omg 100 2" "clr 4 20 5"; do
  # Generated places (no data there), and only what happens inside the solver.
  # shellcheck disable=SC2086
  valgrind --tool=callgrind --callgrind-out-file="$out.cg" --toggle-collect='*colgen*attempt_from*' \
    target/release/examples/engine $solve --threads 1 --data none >/dev/null 2>"$out"
  now=$(sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$out")
  [ "${1:-}" = "--record" ] && echo "$solve: $now" >>"$recorded"
  before=$(sed -n "s/^$solve: //p" "$recorded")
  awk -v s="$solve" -v n="$now" -v b="$before" \
    'BEGIN { printf "engine %-10s %8.1f million instructions, %+.1f %% against %.1f recorded\n", s, n / 1e6, 100 * (n / b - 1), b / 1e6 }'
done
