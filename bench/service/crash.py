#!/usr/bin/env python3
"""Kills lrgeo by SIGKILL at random moments, and counts what is lost. Python's own library alone, loopback alone.

    bench/service/crash.py --lrgeo target/release/lrgeo --kills 500

Four victims at once, a quarter of the kills each: the server while rounds are solved and reports are handed on by webhook; a client while it draws,
spends and reports; `lrgeo publish`; `lrgeo token`. In the end, and after every start:

- every accepted ticket is answered (by the process that took it or by a later one), and always with the same matrix;
- every accepted report is delivered, those of one reference in order, each with a valid signature;
- the client's ledger has every report that the server got, once, and its file opens;
- the store, the published directory and the list of tokens open every time; a token that was told to its owner works, one that was revoked does not.
"""

import argparse
import base64
import hashlib
import hmac
import http.client
import http.server
import json
import os
import pathlib
import random
import subprocess
import tempfile
import threading
import time

REFERENCES = [f"ride-{number}" for number in range(5)]


class Counted:
    """What happened, for the last line."""

    def __init__(self):
        self.lock = threading.Lock()
        self.counts = {}
        self.wrong = []

    def add(self, what, number=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + number

    def complain(self, text):
        with self.lock:
            self.wrong.append(text)
        print(f"WRONG: {text}", flush=True)


class Receiver(http.server.BaseHTTPRequestHandler):
    """The operator's own system: takes two reports of three at the first try."""

    delivered, order, tries, secret, counted, lock = {}, {}, 0, b"", None, threading.Lock()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        name, moment = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        signed = hmac.new(Receiver.secret, f"{name}.{moment}.".encode() + body, hashlib.sha256).digest()
        report = json.loads(body)
        with Receiver.lock:
            Receiver.tries += 1
            taken = Receiver.tries % 3 != 0
            if self.headers["webhook-signature"] != "v1," + base64.b64encode(signed).decode():
                Receiver.counted.complain("a webhook has a wrong signature")
            if taken and name not in Receiver.delivered:
                Receiver.delivered[name] = report
                Receiver.order.setdefault(report.get("reference"), []).append(report["sequence"])
        self.send_response(204 if taken else 503)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def run(*arguments, **options):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, **options)


def must(*arguments):
    done = run(*arguments)
    assert done.returncode == 0, f"{arguments}: {done.stderr}"
    return done.stdout


def killed(rng, seconds, *arguments):
    """Starts a command and kills it after a random part of what it takes; its output if it was quicker."""
    process = subprocess.Popen([str(a) for a in arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        return process.communicate(timeout=rng.random() * seconds)[0] if process.wait else None
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None


def ask(port, method, path, body=None, token=None, timeout=10):
    """Status and body; (None, ...) where the server went away."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        headers = {"content-type": "application/json"} if body is not None else {}
        if token:
            headers["authorization"] = f"Bearer {token}"
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return None, b""
    finally:
        connection.close()


class Server:
    """`lrgeo serve`, which dies and is started again."""

    def __init__(self, lrgeo, folder, receiver_port, counted):
        self.port = free_port()
        settings = folder / "server.toml"
        settings.write_text(
            f'[privacy]\nepsilon = "2/km"\nlr_max = 12\n[rounds]\nusers = 3\nwindow_seconds = 0.2\nuser_seconds = 3\ntime_limit_seconds = 3\n'
            f'[page]\nrounds = false\n[handover]\nwebhook = "http://127.0.0.1:{receiver_port}/"\nmost_pause_seconds = 2\n')
        self.command = [lrgeo, "serve", "--quiet", "--map", folder / "city.lrmap", "--data", folder / "data", "--config", settings,
                        "--listen", f"127.0.0.1:{self.port}"]
        self.counted, self.process, self.log = counted, None, folder / "server.log"

    def start(self):
        with open(self.log, "a") as log:
            self.process = subprocess.Popen([str(a) for a in self.command], stdout=subprocess.DEVNULL, stderr=log)
        for _ in range(1200):
            if ask(self.port, "GET", "/readyz", timeout=2)[0] == 200:
                self.counted.add("server starts")
                return
            if self.process.poll() is not None:
                raise SystemExit(f"the server did not start again: {self.log.read_text()[-2000:]}")
            time.sleep(0.05)
        raise SystemExit("the server did not become ready in a minute")

    def kill(self):
        self.process.kill()
        self.process.wait()


def free_port():
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def recorded_upload(lrgeo, folder, port):
    """What a real client uploads in mode `offload`, read on its way."""
    caught = []

    class Proxy(http.server.BaseHTTPRequestHandler):
        def pass_on(self):
            length = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(length) if length else None
            if self.path == "/v1/rounds":
                caught.append((self.headers["content-type"], body))
            upstream = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            upstream.request(self.command, self.path, body, {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection")})
            answer = upstream.getresponse()
            content = answer.read()
            self.send_response(answer.status)
            for key, value in answer.getheaders():
                if key.lower() not in ("transfer-encoding", "content-length", "connection"):
                    self.send_header(key, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = pass_on

        def log_message(self, *_):
            pass

    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    places = places_of(folder)
    for number in (3, len(places) // 2, len(places) - 4):
        done = run(lrgeo, "client", "obfuscate", "--server", f"http://127.0.0.1:{proxy.server_address[1]}", "--at", places[number], "--mode", "offload",
                   "--i-understand", "--state", folder / f"recorder-{number}.json")
        assert done.returncode == 0, done.stderr
    proxy.shutdown()
    return caught


def places_of(folder):
    lines = (folder / "places.csv").read_text().splitlines()
    head = lines[0].split(",")
    lat, lon = head.index("lat"), head.index("lon")
    return [f"{line.split(',')[lat]},{line.split(',')[lon]}" for line in lines[1:]]


def rounds(server, uploads, counted, stop, tickets):
    """Users who join, wait and come back, through every crash."""
    rng = random.Random(2)
    while not stop.is_set():
        kind, body = rng.choice(uploads)
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        try:
            connection.request("POST", "/v1/rounds", body, {"content-type": kind, "accept": "application/json"})
            answer = connection.getresponse()
            said = answer.read()
            if answer.status == 202:
                joined = json.loads(said)
                tickets.append([joined["ticket"], joined["token"], None])
                counted.add("tickets accepted")
        except (OSError, http.client.HTTPException, ValueError):
            pass
        finally:
            connection.close()
        for ticket in rng.sample(tickets, min(4, len(tickets))):
            look_at(server, ticket, counted)
        time.sleep(0.1)


def look_at(server, ticket, counted, patient=False):
    name, token, seen = ticket
    status, said = ask(server.port, "GET", f"/v1/rounds/{name}" + ("?wait=20" if patient else ""), token=token, timeout=30)
    if status == 404:
        counted.complain(f"a ticket was lost (status {status})")
    if status != 200:
        return None
    state = json.loads(said)
    if state["phase"] == "failed":
        counted.complain(f"a ticket failed: {state['refusal']}")
    if state["phase"] != "done":
        return state["phase"]
    status, matrix = ask(server.port, "GET", f"/v1/rounds/{name}/matrix", token=token, timeout=30)
    if status == 200:
        digest = hashlib.sha256(matrix).hexdigest()
        if seen not in (None, digest):
            counted.complain("a ticket was answered with two matrices")
        ticket[2] = digest
    return "done"


def reports(server, digest, counted, stop, accepted):
    """An app that reports; it numbers what it sends by the place, so that each can be found again."""
    rng = random.Random(3)
    while not stop.is_set():
        reference, place = rng.choice(REFERENCES), rng.randrange(20)
        body = json.dumps({"map": digest, "place": place, "reference": reference})
        status, _ = ask(server.port, "POST", "/v1/reports", body)
        if status is not None and status // 100 == 2:
            accepted[reference].append(place)
            counted.add("reports accepted")
        time.sleep(0.01)


def client_victim(lrgeo, folder, server, counted, kills):
    """Draws at a new place each time, and is killed meanwhile."""
    rng = random.Random(4)
    places = places_of(folder)
    state = folder / "phone.json"
    must(lrgeo, "client", "policy", "--state", state, "--per-report", "3/km", "--per-period", "1000000/km", "--lifetime", "1000000/km")
    spent_before, runs = 0.0, 0
    for kill in range(kills):
        runs += 1
        done = killed(rng, 0.6, lrgeo, "client", "obfuscate", "--server", f"http://127.0.0.1:{server.port}", "--at", places[(kill * 7) % len(places)],
                      "--mode", "published", "--state", state, "--reference", f"phone-{kill}", "--json")
        counted.add("client kills" if done is None else "client runs that were quicker")
        status = run(lrgeo, "client", "status", "--state", state, "--json")
        if status.returncode != 0:
            counted.complain(f"the client's state does not open: {status.stderr}")
            continue
        said = json.loads(status.stdout)
        spent = said["spent_per_km"] if "spent_per_km" in said else said["lifetime"]["spent_per_km"]
        if spent + 1e-9 < spent_before:
            counted.complain("the client's ledger forgot what was spent")
        spent_before = spent
    return spent_before, runs


def publish_victim(lrgeo, folder, counted, kills):
    rng = random.Random(5)
    out = folder / "public"
    for _ in range(kills):
        done = killed(rng, 0.4, lrgeo, "publish", folder / "noise.lrmech", "--key", folder / "operator.key", "-o", out)
        counted.add("publish kills" if done is None else "publish runs that were quicker")
    must(lrgeo, "publish", folder / "noise.lrmech", "--key", folder / "operator.key", "-o", out)


def token_victim(lrgeo, folder, counted, kills):
    rng = random.Random(6)
    data = folder / "token-data"
    data.mkdir()
    for kill in range(kills):
        done = killed(rng, 0.05, lrgeo, "token", "new", "--data", data, "--scope", "report", "--name", f"app-{kill}")
        counted.add("token kills" if done is None else "token runs that were quicker")
        listed = run(lrgeo, "token", "list", "--data", data, "--json")
        if listed.returncode != 0:
            counted.complain(f"the tokens cannot be read: {listed.stderr}")
        elif done and f"app-{kill}" not in listed.stdout:
            counted.complain("a token that was given out is not in the list")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lrgeo", default=os.environ.get("LRGEO", "target/release/lrgeo"), type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--kills", type=int, default=500)
    options = parser.parse_args()
    lrgeo, share = options.lrgeo, options.kills // 4
    counted, began = Counted(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lrgeo-crash-") as name:
        folder = pathlib.Path(name)
        must(lrgeo, "map", "build", "--demo", "--cell", "900m", "-o", folder / "city.lrmap")
        must(lrgeo, "map", "export", folder / "city.lrmap", "--places-csv", folder / "places.csv")
        must(lrgeo, "mechanism", "build", folder / "city.lrmap", "--privacy", "factor 2 within 300 m", "-o", folder / "noise.lrmech")
        must(lrgeo, "key", "new", "-o", folder / "operator.key")
        receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        Receiver.counted = counted
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        server = Server(lrgeo, folder, receiver.server_address[1], counted)
        server.start()
        text = (folder / "data" / "webhook.secret").read_text().strip()
        Receiver.secret = base64.b64decode(text.removeprefix("whsec_"))
        uploads = recorded_upload(lrgeo, folder, server.port)
        digest = json.loads(ask(server.port, "GET", "/v1/map")[1])["map"]

        stop, tickets, accepted = threading.Event(), [], {reference: [] for reference in REFERENCES}
        ledger = []
        actors = [
            threading.Thread(target=rounds, args=(server, uploads, counted, stop, tickets)),
            threading.Thread(target=reports, args=(server, digest, counted, stop, accepted)),
        ]
        victims = [
            threading.Thread(target=lambda: ledger.append(client_victim(lrgeo, folder, server, counted, share))),
            threading.Thread(target=publish_victim, args=(lrgeo, folder, counted, share)),
            threading.Thread(target=token_victim, args=(lrgeo, folder, counted, share)),
        ]
        for thread in actors + victims:
            thread.start()
        rng, told = random.Random(1), time.monotonic()
        for kill in range(share):
            time.sleep(rng.random() * 2)
            server.kill()
            counted.add("server kills")
            server.start()
            if time.monotonic() - told > 10:
                told = time.monotonic()
                print(f"{kill + 1} of {share} server kills, {counted.counts}", flush=True)
        for thread in victims:
            thread.join()
        stop.set()
        for thread in actors:
            thread.join()

        # Everybody comes back.
        waiting = [ticket for ticket in tickets if look_at(server, ticket, counted) != "done"]
        end = time.monotonic() + 300
        while waiting and time.monotonic() < end:
            waiting = [ticket for ticket in waiting if look_at(server, ticket, counted, patient=True) != "done"]
        if waiting:
            counted.complain(f"{len(waiting)} tickets were not answered")
        expected = sum(map(len, accepted.values()))
        ours = lambda: [r for r in Receiver.delivered.values() if r.get("reference") in accepted]
        while len(ours()) < expected and time.monotonic() < end:
            time.sleep(0.2)
        for reference, places in accepted.items():
            # What was accepted and not answered in time is delivered too: what was answered must be among it, in order.
            got = iter([r["place"] for r in sorted(ours(), key=lambda r: r["sequence"]) if r["reference"] == reference])
            if not all(any(place == other for other in got) for place in places):
                counted.complain(f"reports of {reference} were lost")
            if Receiver.order.get(reference, []) != sorted(Receiver.order.get(reference, [])):
                counted.complain(f"reports of {reference} came in another order")
        counted.add("reports delivered", len(ours()))
        spent, runs = ledger[0]
        drawn = len({r["reference"] for r in Receiver.delivered.values() if (r.get("reference") or "").startswith("phone-")})
        counted.add("client reports that arrived", drawn)
        if not drawn * 2 - 1e-6 <= spent <= runs * 2 + 1e-6:
            counted.complain(f"the ledger has {spent}/km for {drawn} reports of {runs} runs")
        server.kill()
    total = sum(number for what, number in counted.counts.items() if what.endswith("kills"))
    print(json.dumps({"kills": total, "seconds": round(time.monotonic() - began), **counted.counts, "wrong": counted.wrong}, indent=1))
    raise SystemExit(1 if counted.wrong else 0)


if __name__ == "__main__":
    main()
