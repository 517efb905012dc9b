"""What the index of sessions costs: the facts of a session, the scan of a store, a second start, and the pages of 10,000 sessions."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from chainviz.core.errors import ChainError
from chainviz.core.session_facts import read_facts
from tests.bench.measures import cost, forget_peak, median_cpu, peak_megabytes, table

SAMPLES = Path(__file__).parents[1] / "samples"
SESSIONS, TURNS = 200, 60
ROWS = 10_000


def report(file: Path, folder: Path) -> None:
    store = folder / "claude"
    files = [_write_session(store / "projects" / f"-yard-{number % 12}" / f"{number:08d}.jsonl", number) for number in range(SESSIONS)]
    _report_scan(store, sum(path.stat().st_size for path in files))
    _report_pages()
    own = [path.read_bytes() for path in files]
    samples = [path.read_bytes() for path in sorted(SAMPLES.rglob("*")) if path.is_file()]
    rows = [
        _facts_row("a long chain", [file.read_bytes()]),
        _facts_row("the samples of all formats", samples),
        _facts_row("sessions of Claude Code", own),
    ]
    heads = ["sessions", "files", "MB", "CPU s", "MB/s", "floor MB/s", "files/s"]
    table("Facts of sessions for the index (goal: 20 MB/s on one core; floor: json.loads and sha256)", heads, rows)


def _facts_row(name: str, contents: list[bytes]) -> list[object]:
    size = sum(map(len, contents)) / 1e6
    cpu = cost(lambda: list(map(_facts, contents))).cpu
    return [name, len(contents), size, cpu, size / cpu, size / cost(lambda: list(map(_floor, contents))).cpu, len(contents) / cpu]


def _facts(content: bytes) -> None:
    with suppress(ChainError):  # a broken sample costs too
        read_facts(content)


def _floor(content: bytes) -> None:
    sha256(content).digest()
    try:
        json.loads(content)
    except ValueError:
        for line in content.splitlines():
            with suppress(ValueError):
                json.loads(line)


def _report_scan(store: Path, size: int) -> None:
    from chainviz.accounts.models import local_member
    from chainviz.jobs.worker import run_waiting_jobs
    from chainviz.sessions_index import services

    os.environ["CLAUDE_CONFIG_DIR"] = str(store)
    member = local_member()
    forget_peak()
    first = cost(lambda: services.choose_sources(member, ["claude-code"]))
    scan = cost(run_waiting_jobs)

    def start_again() -> None:
        services.look_again()
        services.scan(member.team)
        run_waiting_jobs()

    again = cost(start_again)
    rows = [
        ["first rows after the click", first.wall, first.cpu, "", "1 s"],
        ["whole scan", scan.wall, scan.cpu, size / 1e6 / scan.cpu, "20 MB/s, 200 MB of memory"],
        ["second start, nothing changed", again.wall, again.cpu, "", "0.5 s CPU for 2,000"],
    ]
    title = f"Index of {SESSIONS} sessions, {size / 1e6:.0f} MB; the process used {peak_megabytes():.0f} MB at most"
    table(title, ["step", "s", "CPU s", "MB/s", "goal"], rows)


def _report_pages() -> None:
    from django.test import Client

    from chainviz.sessions_index.models import note_changes

    _fill_index()
    client = Client(headers={"host": "localhost"})

    def cold() -> None:
        note_changes()
        client.get("/overview/")

    def cold_library() -> None:
        note_changes()
        client.get("/")

    floor = median_cpu(lambda: client.get("/bin/")) * 1000
    pages = {
        "library": lambda: client.get("/"),
        "library, the index has changed": cold_library,
        "library, a filter of the overview": lambda: client.get("/?tool=Bash&sessions=1"),
        "overview, the index has changed": cold,
        "overview": lambda: client.get("/overview/"),
    }
    goals = {"library": 25, "library, a filter of the overview": 25}
    rows = [[name, median_cpu(page) * 1000, floor, goals.get(name, 50)] for name, page in pages.items()]
    table(f"Pages at {ROWS:,} sessions (floor: an almost empty page)", ["page", "CPU ms", "floor", "goal"], rows)


def _write_session(path: Path, seed: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in _lines(random.Random(seed), seed)))
    return path


def _lines(rng: random.Random, seed: int) -> Iterator[dict[str, Any]]:
    """A question, then calls and results of usual sizes, and an answer."""
    session, parent, count = f"{seed:08d}-0000-4000-8000-000000000000", None, 0

    def line(kind: str, content: object, **inner: object) -> dict[str, Any]:
        nonlocal parent, count
        own, count = f"{seed:08d}-0000-4000-8000-{count:012d}", count + 1
        shared = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/yard", "sessionId": session}
        parent = own
        time = f"2026-11-{1 + seed % 26:02d}T10:{count // 60 % 60:02d}:{count % 60:02d}.000Z"
        message = {"role": kind, "content": content, **inner}
        return {**shared, "version": "2.1.0", "gitBranch": "main", "type": kind, "message": message, "uuid": own, "timestamp": time}

    def answer(*blocks: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 9, "cache_read_input_tokens": 900 * count, "cache_creation_input_tokens": 800, "output_tokens": 210}
        more = {"id": f"msg_{seed:08d}{count:016d}", "type": "message", "model": "claude-sonnet-4-5", "stop_reason": "tool_use"}
        return line("assistant", list(blocks), usage=usage, **more)

    yield line("user", f"Find out why run {seed} is slow.")
    for turn in range(TURNS):
        call = f"toolu_{seed:08d}{turn:016d}"
        use = {"type": "tool_use", "id": call, "name": rng.choice(["Bash", "Read", "Grep"]), "input": {"command": f"cat {turn}.py"}}
        yield answer({"type": "text", "text": "I read the next file. " * 4}, use)
        text = "\n".join(f"{number:5d}  value_{rng.randrange(10**6)} = compute({turn})" for number in range(int(rng.lognormvariate(4, 1))))
        result = {"type": "tool_result", "tool_use_id": call, "content": text}
        yield line("user", [result]) | {"toolUseResult": {"stdout": text, "stderr": "", "interrupted": False}}
    yield answer({"type": "text", "text": "The cache is never used."})


def _fill_index() -> None:
    """Put rows into the index that no file stands behind."""
    from django.utils import timezone

    from chainviz.accounts.models import local_member
    from chainviz.sessions_index.models import Session, SessionDay, SessionTool, Source

    rng, now = random.Random(3), timezone.now()
    source = Source.objects.create(team=local_member().team, path="/made", listed_at=now + timedelta(days=1))
    models = ("claude-opus-4-1", "claude-sonnet-4-5", "gpt-5.3-codex", "gemini-3-pro")
    rows = [
        Session(
            team_id=source.team_id, source=source, agent=rng.choice(["claude-code", "codex", "pi"]), path=f"/made/{number}.jsonl",
            key=str(number), state=f"{number}:1", read_state=f"{number}:1", size=rng.randrange(10_000, 3_000_000),
            changed_at=now - timedelta(minutes=rng.randrange(60 * 24 * 120)), title=f"Find out why run {number} is slow",
            project=f"/yard/project-{number % 40}", format="claude_code", provider="anthropic", model=rng.choice(models),
            messages=rng.randrange(4, 900), began_at=now, duration=rng.randrange(10**5, 10**7), context=rng.randrange(10**4, 190_000),
            window=200_000, growth=[rng.randrange(100_000) for _ in range(22)], health=rng.choice(["accepted"] * 30 + ["refused"]),
            input=number * 900, cached=number * 800, output=number, tokens=number * 901, cost=number * 3_000,
        )
        for number in range(ROWS)
    ]  # fmt: skip
    Session.objects.bulk_create(rows, batch_size=500)
    made = list(Session.objects.filter(source=source))
    SessionDay.objects.bulk_create(
        [
            SessionDay(session=row, day=row.changed_at.date(), model=row.model, input=row.input, output=row.output, cost=row.cost)
            for row in made
        ],
        batch_size=1000,
    )
    tools = ("Bash", "Read", "Edit", "Grep", "Write", "Task", "WebFetch")
    SessionTool.objects.bulk_create(
        [
            SessionTool(session=row, day=row.changed_at.date(), name=name, calls=8, errors=1, bytes=9_000)
            for row in made
            for name in rng.sample(tools, 5)
        ],
        batch_size=1000,
    )
