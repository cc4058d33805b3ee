#!/usr/bin/env bash
# schemathesis (PyPI) against the OpenAPI document of a running server: about a minute, no finding expected.
#   crates/server/tests/schemathesis.sh [path of lrgeo, default target/debug/lrgeo]
set -euo pipefail
cd "$(dirname "$0")/../../.."
lrgeo=$(realpath "${1:-target/debug/lrgeo}")
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

[ -x target/schemathesis/bin/schemathesis ] || {
  python3 -m venv target/schemathesis
  target/schemathesis/bin/pip -q install schemathesis
}

"$lrgeo" -q map build --demo --cell 900m -o "$work/demo.lrmap"
printf '[limits]\nrequest_seconds = 2.0\n[rounds]\nwindow_seconds = 0.2\n[handover]\nstream = true\n' >"$work/server.toml"
token=$("$lrgeo" -q token new --data "$work/data" --name schemathesis --scope public,report,rounds,stream,operate)
"$lrgeo" -q serve --map "$work/demo.lrmap" --config "$work/server.toml" --data "$work/data" --listen 127.0.0.1:0 >"$work/said" &
server=$!
for _ in $(seq 600); do
  url=$(sed -n 's/^listening on //p' "$work/said")
  [ -z "$url" ] || break
  kill -0 "$server"
  sleep 0.2
done

# Whoever asks to wait waits two seconds at most (request_seconds). Events of invented rounds run for half a minute each: one is enough, and page.rs tries it. What a 4xx for odd-but-allowed values means is the
# service's own business (positive_data_acceptance): a map of another version is well-formed and refused all the same.
target/schemathesis/bin/schemathesis run "$url/v1/openapi.json" --url "$url" \
  --header "Authorization: Bearer $token" \
  --exclude-path '/v1/page/rounds/{users}' \
  --exclude-checks positive_data_acceptance \
  --phases "${PHASES:-coverage,fuzzing}" --max-examples "${EXAMPLES:-25}" --request-timeout 20 --seed 1 --no-color
curl -sf "$url/readyz" >/dev/null
