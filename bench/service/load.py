#!/usr/bin/env python3
"""Load on a running server: requests per second and latencies, over keep-alive connections.

    lrgeo serve --map city.lrmap --data data --quiet &
    bench/service/load.py http://127.0.0.1:8417 reports --connections 64 --seconds 10

Kinds: `reports` (one place after the other), `tile` (the first published one), `health`. The client is one Python
process, so it may be what is slow: run several beside each other to see.
"""

import argparse
import asyncio
import json
import time
import urllib.request


def request_of(kind, base, host):
    """The bytes of one request."""
    if kind == "health":
        return f"GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n".encode()
    manifest = json.load(urllib.request.urlopen(base + "/v1/manifest"))
    if kind == "tile":
        name = manifest["tiles"][0]["hash"]
        return f"GET /v1/tiles/{name} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode()
    body = json.dumps({"map": manifest["map"], "place": 3}).encode()
    head = f"POST /v1/reports HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def client(host, port, request, until, took, failed):
    """One connection, one request after the other."""
    reader, writer = await asyncio.open_connection(host, port)
    while time.perf_counter() < until:
        begun = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                await reader.readexactly(int(line.split(b":")[1]))
        took.append(time.perf_counter() - begun)
        if not head.startswith(b"HTTP/1.1 200"):
            failed.append(head.split(b"\r\n")[0])
    writer.close()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("kind", choices=["reports", "tile", "health"])
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10)
    args = parser.parse_args()
    host, port = args.server.removeprefix("http://").split(":")
    request = request_of(args.kind, args.server, host)
    took, failed, begun = [], [], time.perf_counter()
    until = begun + args.seconds
    clients = [client(host, int(port), request, until, took, failed) for _ in range(args.connections)]
    await asyncio.gather(*clients)
    seconds = time.perf_counter() - begun
    took.sort()
    at = lambda share: 1e3 * took[int(share * (len(took) - 1))]
    print(f"{args.kind}: {len(took) / seconds:.0f}/s, median {at(0.5):.2f} ms, 99th percentile {at(0.99):.2f} ms, {len(failed)} failed")


asyncio.run(main())
