"""Readers and editors at a real server: how many requests it answers, how quickly, and what one request costs its processes.

    python -m tests.bench.load [--processes 1,4] [--database postgresql://…] [--pause 0.2] [--seconds 10]

`--pause` is the time, in seconds, that a reader waits between two requests. Without it the readers only wait for the server.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode

from tests.bench.made_chains import write_chain
from tests.bench.measures import table

MESSAGES, RESULT = 2_841, 2_500
READERS, EDITORS, SECONDS = 50, 10, 10
FRAGMENT = {"HX-Request": "true"}
TICKS = os.sysconf("SC_CLK_TCK")
START = (
    "import sys; from chainviz.commands.server import serve; serve.core_count = lambda: {}; from chainviz.cli import main; sys.exit(main())"
)
HEADS = ["database", "processes", "who", "requests/s", "p50 ms", "p95 ms", "errors", "CPU ms a request", "load"]


@dataclass
class Seen:
    """What some people saw: the seconds of each answer, and everything that was not an answer."""

    seconds: list[float] = field(default_factory=list)
    errors: list[object] = field(default_factory=list)

    def row(self, took: float) -> list[object]:
        last = statistics.quantiles(self.seconds, n=20)[-1] if len(self.seconds) > 1 else 0
        middle = statistics.median(self.seconds or [0])
        return [len(self.seconds) / took, middle * 1000, last * 1000, len(self.errors)]


class Fields(HTMLParser):
    """The address of the edit form in a page, and the fields that a browser sends with it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action = ""
        self.fields: dict[str, str] = {}
        self._text = self._select = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value") or ""
        if tag == "form" and given.get("id") == "edit-form":
            self.action = given.get("action") or ""
        elif tag == "textarea":
            self._text, self.fields[name] = name, ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and ("selected" in given or self._select not in self.fields):
            self.fields[self._select] = value
        elif tag == "input" and name and (given.get("type", "text") not in ("checkbox", "radio", "file") or "checked" in given):
            self.fields[name] = value

    def handle_data(self, data: str) -> None:
        if self._text:
            self.fields[self._text] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":  # a line break after the tag is not part of the text
            self.fields[self._text] = self.fields[self._text].removeprefix("\n")
            self._text = ""


class Person:
    """A browser with one connection and its cookies."""

    def __init__(self, port: int, seen: Seen) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.seen = seen
        self._cookies: dict[str, str] = {}

    def ask(self, path: str, form: dict[str, str] | None = None, *, is_fragment: bool = False) -> str:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
        headers |= FRAGMENT if is_fragment else {}
        body = None if form is None else urlencode(form)
        if form is not None:
            headers |= {"Content-Type": "application/x-www-form-urlencoded", "X-CSRFToken": self._cookies.get("chainviz_csrf", "")}
        started = time.monotonic()
        try:
            self._connection.request("GET" if form is None else "POST", path, body, headers)
            answer = self._connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self.seen.errors.append(error)
            self._connection.close()
            return ""
        self.seen.seconds.append(time.monotonic() - started)
        for name, value in re.findall(r"(\w+)=([^;]*)", "; ".join(answer.headers.get_all("Set-Cookie") or [])):
            self._cookies[name] = value
        if answer.status == 302:
            return self.ask(answer.headers["Location"])
        if answer.status != 200:
            notice = re.search(r'class="notice-title">(.*?)<', text)
            self.seen.errors.append((answer.status, notice[1] if notice else path))
        return text


Act = Callable[[Person, random.Random, int], object]
"""What a person does; the number tells the people of a group apart."""


def read(person: Person, turn: random.Random, number: int) -> None:
    """Open one of the four pages, at any place of the first chain."""
    base = "/c/1/v/1/"
    near, section, pair = turn.randrange(MESSAGES), turn.randint(1, 14), turn.randint(1, 90)
    pages = (base, f"{base}rows?near={near}", f"{base}node/s{section}.p{pair}", "/")
    page = turn.choice(pages)
    person.ask(page, is_fragment="rows" in page or "node" in page)


def edit(person: Person, turn: random.Random, number: int) -> None:
    """Change a text of a node of an own chain, as the form of its page does."""
    address = f"/c/{number + 2}/edit/s{turn.randint(1, 14)}.p{turn.randint(1, 90)}?v=1"
    page = person.ask(address)
    forms = Fields(page)
    texts = [name for name in forms.fields if name.endswith("-text")]
    if texts:
        form = {**forms.fields, texts[0]: f"Edit {time.time_ns()}"}
        person.ask(forms.action, form, is_fragment=True)


def people(group: Sequence[Person], seconds: float, act: Act, pause: float = 0) -> list[threading.Thread]:
    """Start people who act again and again."""
    end = time.monotonic() + seconds

    def go_on(number: int, person: Person) -> None:
        turn = random.Random(number)
        time.sleep(turn.random() * pause)
        while time.monotonic() < end:
            act(person, turn, number)
            time.sleep(pause * 2 * turn.random())

    threads = [threading.Thread(target=go_on, args=each) for each in enumerate(group)]
    for thread in threads:
        thread.start()
    return threads


def cpu_seconds(server: int) -> float:
    """Return the CPU time of a process and its children, which are the processes for pages and jobs."""
    ticks, parents = {}, {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            values = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(each.parent.name)
        parents[pid], ticks[pid] = int(values[1]), sum(map(int, values[11:15]))
    family = {server}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(ticks.get(pid, 0) for pid in family) / TICKS


@contextmanager
def running_server(folder: Path, processes: int, database: str, files: Sequence[Path] = ()) -> Iterator[tuple[int, int]]:
    """Start a server that has imported the files, and yield its port and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, "CHAINVIZ_DATA": str(folder), "CHAINVIZ_PORT": str(port), "CHAINVIZ_DATABASE_URL": database}
    command = [sys.executable, "-c", START.format(processes), "serve", "--no-discovery", *map(str, files)]
    server = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        if not any("is ready" in line for line in server.stdout):
            raise RuntimeError("the server did not start")
        yield port, server.pid
    finally:
        server.terminate()
        server.wait()


def wait_until_idle(server: int) -> None:
    """Wait for the jobs that an import starts."""
    while True:
        spent = cpu_seconds(server)
        time.sleep(1)
        if cpu_seconds(server) - spent < 0.05:
            return


def measure(server: int, groups: Sequence[tuple[str, list[Person], Act, float]], seconds: float) -> list[list[object]]:
    """Let groups of people act at once: each has a name, its people, what they do and the pause between. Return a row for each."""
    spent, started = cpu_seconds(server), time.monotonic()
    threads = [thread for _, group, act, pause in groups for thread in people(group, seconds, act, pause)]
    for thread in threads:
        thread.join()
    took = time.monotonic() - started
    seen = [group[0].seen for _, group, *_ in groups]
    for error, count in Counter(str(error) for each in seen for error in each.errors).most_common(5):
        print(f"{count} × {error}")
    cost = (cpu_seconds(server) - spent) * 1000 / max(1, sum(len(each.seconds) for each in seen))
    return [[name, *each.row(took), cost, os.getloadavg()[0]] for (name, *_), each in zip(groups, seen, strict=True)]


def static_file(port: int) -> str:
    found = re.search(r'href="(/static/css/base[^"]*)"', Person(port, Seen()).ask("/"))
    assert found is not None
    return found[1]


def report(folder: Path, processes: Sequence[int], database: str = "", seconds: float = SECONDS, pause: float = 0) -> None:
    folder.mkdir(exist_ok=True)
    files = [write_chain(folder / f"load-{seed}.json", MESSAGES, seed=seed, result=RESULT) for seed in range(EDITORS + 1)]
    rows: list[list[object]] = []
    for count in processes:
        with running_server(folder, count, database, files) as (port, server):
            files = []
            wait_until_idle(server)

            def group(number: int, port: int = port) -> list[Person]:
                seen = Seen()
                return [Person(port, seen) for _ in range(number)]

            file = static_file(port)
            measure(server, [("", group(READERS), read, 0)], 2)  # each process fills what it keeps
            found = [
                *measure(server, [("floor: empty view", group(READERS), lambda person, *_: person.ask("/healthz"), 0)], 3),
                *measure(server, [("floor: static file", group(READERS), lambda person, *_, file=file: person.ask(file), 0)], 3),
                *measure(server, [("readers", group(READERS), read, pause)], seconds),
                *measure(server, [("beside editors", group(READERS), read, pause), ("editors", group(EDITORS), edit, 0.5)], seconds),
            ]
            rows += [["PostgreSQL" if database else "SQLite", count, *row] for row in found]
    note = f"; they wait {pause} s between two requests" if pause else ""
    title = f"{READERS} readers of four pages, then with {EDITORS} editors beside them{note}"
    table(f"{title} (goal: 200 requests a second, p95 100 ms; editors 200 ms; no errors)", HEADS, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", default="1,4")
    parser.add_argument("--database", default="")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--pause", type=float, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="chainviz-load-") as folder:
        report(Path(folder), [int(each) for each in given.processes.split(",")], given.database, given.seconds, given.pause)


if __name__ == "__main__":
    main()
