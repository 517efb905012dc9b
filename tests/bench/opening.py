"""Opening a chain in a real browser from a real server, beside the smallest chain and an almost empty page."""

from __future__ import annotations

import gzip
import http.client
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.measures import table

if TYPE_CHECKING:
    from playwright.sync_api import Page

OBSERVE = """() => {
  window.seen = {lcp: 0, cls: 0};
  const watch = (type, see) => new PerformanceObserver(list => list.getEntries().forEach(see)).observe({type, buffered: true});
  watch('largest-contentful-paint', paint => { window.seen.lcp = paint.startTime });
  watch('layout-shift', shift => { if (!shift.hadRecentInput) window.seen.cls += shift.value });
}"""


def report(chains: dict[int, int], folder: Path) -> None:
    with running_server() as port:
        floor = _first_byte(port, "/bin/")
        pages = {size: f"/c/{pk}/v/1/" for size, pk in chains.items()}
        first = {size: _first_byte(port, page) for size, page in pages.items()}
        smallest = min(first.values())
        rows = [[size, t * 1000, floor * 1000, t / smallest, *_in_browser(port, pages[size])] for size, t in first.items()]
    heads = ["messages", "TTFB ms", "floor: empty page", "ratio to smallest", "HTML kB gz", "JS+CSS kB gz"]
    heads += ["DOM", "most while scrolling", "LCP ms", "open node ms", "CLS"]
    table("Opening a chain (goal: ratio 1.3, 60 + 60 kB, 1,400 nodes, LCP 1 s, interaction 100 ms, CLS 0.02)", heads, rows)


@contextmanager
def running_server() -> Iterator[int]:
    """Start `chainviz serve` and yield its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, "CHAINVIZ_PORT": str(port)}
    server = subprocess.Popen([sys.executable, "-m", "chainviz", "serve"], env=env, stdout=subprocess.DEVNULL)
    try:
        _wait(port)
        yield port
    finally:
        server.terminate()
        server.wait()


def _wait(port: int) -> None:
    for _ in range(100):
        try:
            _get(port, "/bin/")
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("the server did not start")


def _get(port: int, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return body


def _first_byte(port: int, path: str, times: int = 25) -> float:
    found = []
    for _ in range(times + 2):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        started = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        found.append(time.perf_counter() - started)
        answer.read()
        connection.close()
    return statistics.median(found[2:])


def _weight(port: int, path: str) -> float:
    """kB of the answer when it is compressed."""
    return len(gzip.compress(_get(port, path))) / 1000


def _in_browser(port: int, path: str) -> tuple[float, float, int, int, float, float, float]:
    from playwright.sync_api import sync_playwright

    from tests.chromium import launch_arguments

    asked: set[str] = set()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_arguments())
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(f"({OBSERVE})()")
        page.on("request", lambda request: asked.add(request.url))
        page.goto(f"http://127.0.0.1:{port}{path}")
        page.wait_for_timeout(800)
        assets = [url.partition(f":{port}")[2] for url in asked if url.endswith((".js", ".css"))]
        nodes = page.evaluate(COUNT)
        opened = _open_a_node(page)
        most = nodes
        for _ in range(12):
            page.mouse.move(700, 600)
            page.mouse.wheel(0, 3000)
            page.wait_for_timeout(150)
            most = max(most, page.evaluate(COUNT))
        seen = page.evaluate("window.seen")
        browser.close()
    return (_weight(port, path), sum(_weight(port, asset) for asset in assets), nodes, most, seen["lcp"], opened, seen["cls"])


COUNT = "document.querySelectorAll('*').length"
WATCH_THE_CLICK = """line => {
  const row = line.parentElement;
  window.opened = new Promise(done => line.addEventListener('click', async () => {
    const started = performance.now();
    while (row.isConnected && row.childElementCount < 2 && performance.now() - started < 3000) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    done(performance.now() - started);
  }, {capture: true}));
}"""


def _open_a_node(page: Page) -> float:
    """Milliseconds from the click on a closed node to its painted body. A real click: what moves after it was asked for."""
    line = page.locator("article.node a.node-line[aria-expanded=false]").first
    line.evaluate(WATCH_THE_CLICK)
    line.click()
    taken: float = page.evaluate("window.opened")
    return taken
