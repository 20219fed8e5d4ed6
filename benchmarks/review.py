"""The review page under load, killed, and at 100,000 samples.

    python benchmarks/review.py load            # 50 reviewers for 30 s: latency, lost decisions
    python benchmarks/review.py kill            # kill -9 at 50 random moments of 1,000 decisions
    python benchmarks/review.py paint           # first paint at 1,000 to 100,000 samples
    python benchmarks/review.py all             # all of it

What is measured goes into its part of ``benchmarks/results/review.json``.

Each runs a server of its own on this machine, on made-up samples. A reviewer asks for samples, and
decides one a second, which is quick for people, and then five a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "review.json"
TOKEN = "a-token-for-this-run-only"
PAUSES = (1.0, 0.2)
"""Seconds between the decisions of one reviewer."""


def made_up(n: int, folder: Path) -> Any:
    """A subject of n samples, half of them suspects."""
    from rehead import RobustGaussianClassifier, score_labels
    from rehead.report.shown import Looks, open_shown
    from rehead.review.subject import Subject

    rng = np.random.default_rng(0)
    y = rng.integers(10, size=n)
    X = rng.normal(size=(n, 12)) + 6 * np.eye(10, 12)[y]
    noisy = np.where(rng.random(n) < 0.3, (y + 1) % 10, y)
    model = RobustGaussianClassifier("anchored").fit(X[:2000], noisy[:2000])
    report = score_labels(model, X, noisy, ids=np.array([f"sample {i}" for i in range(n)]))
    pixels = rng.integers(255, size=(n, 16, 16), dtype=np.uint8)
    return Subject(report, X, open_shown(report.names, Looks(images=pixels)), "head", folder)


def serve(folder: Path, port: int, n: int) -> None:
    """The server, in a process of its own; it says when it is ready."""
    import uvicorn

    from rehead.review.desk import Desk
    from rehead.review.guard import Guard
    from rehead.review.server import build_app
    from rehead.review.serving import Address, hosts_of, listen

    desk = Desk(made_up(n, folder), folder / "decisions.sqlite")
    listening = listen(Address(port=port))
    port = listening.getsockname()[1]
    app = Guard(build_app(desk), TOKEN, hosts_of("127.0.0.1", port))
    print(port, flush=True)
    config = uvicorn.Config(app, log_level="error", lifespan="off")
    uvicorn.Server(config).run(sockets=[listening])


def free_port() -> int:
    """A port at which nobody listens, below those of outgoing connections."""
    from rehead.review.serving import Address, listen

    for port in random.sample(range(12_000, 32_000), 50):
        try:
            listen(Address(port=port)).close()
        except OSError:
            continue  # in use
        return port
    raise OSError("none of 50 ports is free")


class ServerProcess:
    """A server that can be killed and started again at the same port."""

    def __init__(self, folder: Path, n: int) -> None:
        # Not one of the ports that the system gives to whoever calls somebody: it must still be
        # free when the server comes back.
        self.folder, self.n, self.port = folder, n, free_port()
        self.start()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        command = [sys.executable, __file__, "--serve", str(self.folder)]
        command += ["--port", str(self.port), "--samples", str(self.n)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self._began = 0.0
        self._began = self.cpu_seconds()

    def cpu_seconds(self) -> float:
        """Time that it has used, but for its start; NaN where the system does not tell."""
        file = Path(f"/proc/{self.process.pid}/stat")
        if not file.exists():
            return float("nan")
        used = sum(int(ticks) for ticks in file.read_text().rpartition(")")[2].split()[11:13])
        return used / os.sysconf("SC_CLK_TCK") - self._began

    def kill(self) -> None:
        """As a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Client:
    """A reviewer's connection: as little work as can be, for it shares the cores."""

    def __init__(self, port: int, who: str) -> None:
        self.port, self.who = port, who
        self.connection: Any = None

    async def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """One request; an error if there is no answer, or one that says no."""
        if self.connection is None:
            self.connection = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.connection
        content = b"" if body is None else json.dumps(body).encode()
        host = f"127.0.0.1:{self.port}"
        head = [
            f"{'GET' if body is None else 'POST'} {path} HTTP/1.1",
            f"Host: {host}",
            f"Cookie: rehead_review_{self.port}={TOKEN}",
        ]
        if body is not None:
            head += [f"Origin: http://{host}", f"Content-Length: {len(content)}"]
        try:
            writer.write("\r\n".join([*head, "", ""]).encode() + content)
            status = int((await reader.readline()).split()[1])
            length = 0
            while (line := await reader.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            answer = json.loads(await reader.readexactly(length))
        except (OSError, asyncio.IncompleteReadError, IndexError, ValueError) as error:
            writer.close()
            self.connection = None
            raise ConnectionError(str(error)) from error
        if status != 200:
            raise RuntimeError(f"{status}: {answer}")
        return answer


async def reviewer(
    port: int, who: str, until: float, pause: float, fewest: int = 0
) -> tuple[list[str], list[float]]:
    """Decide until the time is over; ids that were acknowledged, and seconds of each request.

    At least ``fewest`` are decided, however long that takes.
    """
    client, saved, took = Client(port, who), [], []
    cards: list[Any] = []
    await asyncio.sleep(random.random() * pause)
    while time.monotonic() < until or len(saved) < fewest:
        began = time.perf_counter()
        if not cards:
            name = who.replace(" ", "%20")
            cards = (await client.ask(f"/api/next?who={name}&n=8"))["samples"]
        else:
            sent = {"id": os.urandom(8).hex(), "who": who, "ticket": cards.pop()["ticket"]}
            await client.ask("/api/decide", {**sent, "action": "keep", "label": None})
            saved.append(sent["id"])
        took.append(time.perf_counter() - began)
        await asyncio.sleep(max(0.0, pause - took[-1]))
    return saved, took


BARE = """
import asyncio, sys
async def answer(reader, writer):
    while await reader.readline():
        writer.write(b"\\n")
async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""
"""A server that does nothing: what it takes is what the machine is busy with otherwise."""


async def bare(port: int, until: float) -> list[float]:
    """Seconds that a server takes which does nothing."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    took = []
    while time.monotonic() < until:
        began = time.perf_counter()
        writer.write(b"\n")
        await reader.readline()
        took.append(time.perf_counter() - began)
        await asyncio.sleep(0.02)
    writer.close()
    return took


def in_log(folder: Path) -> Counter[str]:
    """How often each id is in the log."""
    import sqlite3

    with sqlite3.connect(folder / "decisions.sqlite") as base:
        return Counter(row[0] for row in base.execute("SELECT client FROM lines"))


def load(
    clients: int, seconds: float, n: int = 10_000, pause: float = PAUSES[-1], fewest: int = 0
) -> dict[str, Any]:
    """Reviewers at the same time: how long they wait, and whether a decision is lost."""
    with tempfile.TemporaryDirectory() as place:
        server = ServerProcess(Path(place), n)
        idle = subprocess.Popen([sys.executable, "-c", BARE], stdout=subprocess.PIPE, text=True)
        assert idle.stdout is not None
        idle_port = int(idle.stdout.readline())
        try:

            async def everybody() -> Any:
                until = time.monotonic() + seconds
                names = [f"r{i}" for i in range(clients)]
                each = (reviewer(server.port, who, until, pause, fewest) for who in names)
                return await asyncio.gather(bare(idle_port, until), *each)

            nothing, *done = asyncio.run(everybody())
            cpu = server.cpu_seconds()
        finally:
            server.kill()
            idle.kill()
            idle.wait()
        written = in_log(Path(place))
    saved = [one for ids, _ in done for one in ids]
    took = np.concatenate([times for _, times in done]) * 1000
    return {
        "clients": clients,
        "seconds": seconds,
        "samples": n,
        "pause": pause,
        "requests": len(took),
        "server_cpu_share": round(cpu / seconds, 2),
        "decisions": len(saved),
        "lost": sum(written[one] == 0 for one in saved),
        "twice": sum(n > 1 for n in written.values()),
        "ms": _percentiles(took),
        "bare_ms": _percentiles(np.array(nothing) * 1000),
    }


def _percentiles(ms: np.ndarray) -> dict[str, float]:
    return {f"p{q}": round(float(np.percentile(ms, q)), 1) for q in (50, 95, 99)}


def kill(kills: int, decisions: int, n: int = 600) -> dict[str, Any]:
    """Decisions while the server is killed at random moments; each is sent until it is saved."""
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as place:
        server = ServerProcess(Path(place), n)
        moments = sorted(rng.sample(range(1, decisions), kills), reverse=True)
        saved = asyncio.run(_decide_through_kills(server, decisions, moments, rng))
        server.kill()
        written = in_log(Path(place))
    return {
        "kills": kills,
        "decisions": len(saved),
        "lost": sum(written[one] == 0 for one in saved),
        "twice": sum(n > 1 for n in written.values()),
        "unknown": len(set(written) - set(saved)),
    }


async def _decide_through_kills(
    server: ServerProcess, decisions: int, moments: list[int], rng: random.Random
) -> list[str]:
    client, saved = Client(server.port, "Ann"), []
    cards = (await client.ask("/api/next?who=Ann&n=24"))["samples"]
    while len(saved) < decisions:
        killer = None
        if moments and len(saved) >= moments[-1]:
            moments.pop()
            # Somewhere within the next request: before it is written, after, or meanwhile.
            killer = asyncio.get_running_loop().call_later(rng.random() * 0.01, server.kill)
        sent = {"id": os.urandom(8).hex(), "who": "Ann", "ticket": rng.choice(cards)["ticket"]}
        while True:
            try:
                await client.ask("/api/decide", {**sent, "action": "keep", "label": None})
            except ConnectionError:
                server.process.wait()
                await asyncio.to_thread(server.start)
                killer = None
            else:
                break
        saved.append(sent["id"])
        if killer is not None and server.process.poll() is None:
            await asyncio.sleep(0.012)
    return saved


def paint(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """First paint, the first sample, and the answer to a key, in Chromium."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("google-chrome")
    rows = []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for n in sizes:
            with tempfile.TemporaryDirectory() as place:
                server = ServerProcess(Path(place), n)
                try:
                    rows.append({"samples": n, **_painted(browser, server.port)})
                finally:
                    server.kill()
        browser.close()
    return rows


def _painted(browser: Any, port: int) -> dict[str, float]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/?token={TOKEN}")
    page.wait_for_selector("article.card")  # what is made once is made
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/")
    page.wait_for_selector("article.card img")
    first = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    sample = page.evaluate("performance.now()")
    waits = []
    for _ in range(20):
        row = page.get_attribute("article.card", "data-row")
        began = time.perf_counter()
        page.keyboard.press("k")
        page.wait_for_selector(f"article.card:not([data-row='{row}'])")
        waits.append(1000 * (time.perf_counter() - began))
    context.close()
    found = {"first_paint_ms": first, "sample_ms": sample, "key_ms": float(np.median(waits))}
    return {name: round(value, 1) for name, value in found.items()}


def main() -> None:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["load", "kill", "paint", "all"], default="all")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--decisions", type=int, default=1000)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--samples", type=int, default=10_000, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve is not None:
        serve(asked.serve, asked.port, asked.samples)
        return
    from reporting import circumstances, write_json

    parts: dict[str, Callable[[], Any]] = {
        "load": lambda: [load(asked.clients, asked.seconds, pause=p) for p in PAUSES],
        "paint": lambda: paint((1000, 10_000, 100_000)),
        "kill": lambda: kill(asked.kills, asked.decisions),
    }
    for name, measure in parts.items():
        if asked.what in (name, "all"):
            when = circumstances({"part": name})
            found = {"circumstances": when, "measured": measure()}
            print(name, found["measured"], flush=True)
            known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
            write_json(RESULTS, {**known, name: found})


if __name__ == "__main__":
    main()
