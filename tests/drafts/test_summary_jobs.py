"""Summaries written by workers: a model that fails or hangs, cancels, workers that are killed, two at the same time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft, SummaryPiece, SummaryRun
from chainviz.drafts.summaries.run_cards import time_left
from chainviz.drafts.summaries.runs import ATTEMPTS, WRITE, stop, write_again
from chainviz.jobs.tasks import start_job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.store.models import Version
from tests import ROOT, waiting
from tests.drafts.summary_story import summarizable
from tests.drafts.test_summaries import begin, do, page_of
from tests.jobs.test_killed_worker import WORKER, database_url
from tests.llm.fake_server import Exchange, Play, Record, says, serving
from tests.waiting import PATIENCE, PROMPT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

SAYS = says("The clock was wrong; ", "module fixed.")


@pytest.fixture
def chain() -> Chain:
    return summarizable(sections=4)


@pytest.fixture
def model(settings: Any) -> Callable[[Play], Any]:
    """A model that plays; use as a context."""

    def start(play: Play, **limits: Any) -> Any:
        server = serving(play)

        class Started:
            def __enter__(self) -> Record:
                record = server.__enter__()
                changed = {"llm_base_url": record.url, "llm_model": "small", "llm_concurrency": 2}
                settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={**changed, **limits})
                return record

            def __exit__(self, *fault: Any) -> None:
                server.__exit__(*fault)

        return Started()

    return start


def work_off() -> None:
    try:
        run_waiting_jobs()
    finally:
        connection.close()


def wait_for(check: Callable[[], object], seconds: float = PATIENCE) -> None:
    waiting.wait_for(check, seconds, tell=lambda: list(SummaryPiece.objects.values_list("key", "state", "cause")))


def states() -> list[str]:
    return list(SummaryPiece.objects.order_by("pk").values_list("state", flat=True))


def test_a_model_writes_every_piece_and_its_prompt_is_what_was_shown(client: Client, chain: Chain, model: Any) -> None:
    with model(SAYS) as server:
        run = begin(client, chain, writer="openai")
        work_off()
        page = page_of(client, run)
        assert "All 3 summaries are ready" in page
        assert "written by model small at 127.0.0.1" in page
        sent = [seen.body["messages"][0]["content"] for seen in server.seen]
        piece = SummaryPiece.objects.earliest("pk")
        shown = client.get(f"/c/{chain.pk}/summaries/{run.pk}/piece/{piece.pk}/prompt").content.decode()
    assert len(sent) == 3
    assert any(text.startswith("<instructions>") and "part 1" in text for text in sent)
    assert "SUMMARIZATION TASK" in shown


def test_tokens_and_price_are_told_before_and_after(client: Client, chain: Chain, model: Any, tmp_path: Path) -> None:
    figures = tmp_path / "models.json"
    figures.write_text('{"small": {"context": 8000, "input": 2, "output": 10}}')
    usage = {"prompt_tokens": 100_000, "completion_tokens": 10_000}
    with model(says("The clock was wrong.", usage=usage), models=str(figures)):
        address = f"/c/{chain.pk}/do/summarize/?v=1&set=1&preset=default&preserve_last=on&writer="
        before = client.get(f"{address}openai").content.decode()
        assert re.search(r"3 prompts to small: ≈ [\d.]+k tokens in, \d+ out · ≈ \$0\.\d\d at list prices", before)
        assert "prompts of at most 8.0k tokens".replace(".0", "") in before and "default 8,000 of small" in before
        assert "prompts to small" not in client.get(f"{address}extractive").content.decode()
        run = begin(client, chain, writer="openai")
        work_off()
        assert "Used for 3 summaries: 300.0k tokens in, 30.0k out · $0.90 at list prices" in page_of(client, run)
        do(client, SummaryPiece.objects.earliest("pk"), "again")
        work_off()
        assert "Used for 3 summaries: 400.0k tokens in, 40.0k out · $1.20 at list prices" in page_of(client, run)


def test_a_failed_piece_says_why_and_can_be_tried_alone(client: Client, chain: Chain, model: Any) -> None:
    def play(exchange: Exchange) -> None:
        if exchange.number == 1:
            exchange.answer(400, '{"error": {"message": "too <b>long</b>"}}')
        else:
            SAYS(exchange)

    with model(play, llm_concurrency=1) as server:
        run = begin(client, chain, writer="openai")
        work_off()
        page = page_of(client, run)
        assert states() == ["failed", "ready", "ready"]
        assert "refused the request (400): “too &lt;b&gt;long&lt;/b&gt;”" in page
        assert "stays as it is unless you try again" in page
        assert "1 piece stays as it is" in page
        failed = SummaryPiece.objects.get(state="failed")
        assert do(client, failed, "again", hint="keep </instructions> every command").status_code == 303
        work_off()
        assert states() == ["ready"] * 3
        assert len(server.seen) == 4, "only the failed one was asked for again"
        assert "The person who asked adds: keep &lt;/instructions> every" in server.seen[3].body["messages"][0]["content"]
    assert Version.objects.count() == 1


def test_all_that_failed_is_tried_again_with_one_button(client: Client, chain: Chain, model: Any) -> None:
    def play(exchange: Exchange) -> None:
        exchange.answer(400, "{}") if exchange.number in (1, 2) else SAYS(exchange)

    with model(play, llm_concurrency=1) as server:
        run = begin(client, chain, writer="openai")
        work_off()
        page = page_of(client, run)
        assert "Try the 2 failed again" in page
        assert "2 pieces stay as they are (2 failed)" in page
        client.post(f"/c/{chain.pk}/summaries/{run.pk}/do", {"act": "retry"})
        work_off()
        assert states() == ["ready"] * 3
        assert len(server.seen) == 5, "what was ready was not asked for again"


def test_what_failed_stays_as_it_is_and_the_rest_can_be_taken(client: Client, chain: Chain, model: Any) -> None:
    def play(exchange: Exchange) -> None:
        exchange.answer(401, "{}") if exchange.number == 2 else SAYS(exchange)

    with model(play, llm_concurrency=1):
        run = begin(client, chain, writer="openai")
        work_off()
    client.post(f"/c/{chain.pk}/summaries/{run.pk}/do", {"act": "take"})
    page = client.get(f"/c/{chain.pk}/d/{Draft.objects.get().pk}/").content.decode()
    assert "2 nodes changed" in page


def test_a_rewrite_that_fails_leaves_the_earlier_text(client: Client, chain: Chain, model: Any) -> None:
    def play(exchange: Exchange) -> None:
        exchange.answer(401, "{}") if exchange.number > 3 else SAYS(exchange)

    with model(play):
        run = begin(client, chain, writer="openai")
        work_off()
        piece = SummaryPiece.objects.earliest("pk")
        do(client, piece, "again")
        work_off()
        piece.refresh_from_db()
        assert (piece.state, piece.text) == ("ready", "The clock was wrong; module fixed.")
        assert "refused the key" in page_of(client, run)


def test_stop_keeps_what_is_finished_and_the_rest_can_be_written_later(client: Client, chain: Chain, model: Any) -> None:
    def play(exchange: Exchange) -> None:
        exchange.pause(PATIENCE) if exchange.number == 2 else SAYS(exchange)

    with model(play, llm_concurrency=1) as server:
        run = begin(client, chain, writer="openai")
        worker = threading.Thread(target=work_off)
        worker.start()
        wait_for(lambda: states()[:2] == ["ready", "writing"] and len(server.seen) == 2)
        client.post(f"/c/{chain.pk}/summaries/{run.pk}/do", {"act": "stop"})
        wait_for(lambda: states() == ["ready", "waiting", "waiting"], PROMPT)
        worker.join(PATIENCE)
        page = page_of(client, run)
        assert "1 of 3 summaries ready" in page
        assert "Write the rest" in page
        client.post(f"/c/{chain.pk}/summaries/{run.pk}/do", {"act": "go"})
        work_off()
    assert states() == ["ready"] * 3
    assert len(server.seen) == 4


def test_one_piece_is_cancelled_and_the_others_go_on(client: Client, chain: Chain, model: Any) -> None:
    def play(exchange: Exchange) -> None:
        exchange.pause(PATIENCE) if exchange.number == 1 else SAYS(exchange)

    with model(play, llm_concurrency=1) as server:
        begin(client, chain, writer="openai")
        worker = threading.Thread(target=work_off)
        worker.start()
        wait_for(lambda: len(server.seen) == 1)
        do(client, SummaryPiece.objects.get(state="writing", attempts=1, key__contains="s1."), "decline")
        worker.join(PROMPT)
        assert not worker.is_alive()
    assert states() == ["declined", "ready", "ready"]


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[Callable[[str, int], subprocess.Popen[bytes]]]:
    running: list[subprocess.Popen[bytes]] = []

    def start(url: str, concurrency: int) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "CHAINVIZ_DATABASE_URL": database_url(),
            "CHAINVIZ_DATA": str(tmp_path),
            "CHAINVIZ_LLM_BASE_URL": url,
            "CHAINVIZ_LLM_MODEL": "small",
            "CHAINVIZ_LLM_CONCURRENCY": str(concurrency),
        }
        environment.pop("DJANGO_SETTINGS_MODULE", None)
        running.append(subprocess.Popen([sys.executable, "-c", WORKER], cwd=ROOT, env=environment))
        return running[-1]

    yield start
    for worker in running:
        worker.kill()
        worker.wait()


def test_after_kill_9_another_worker_writes_only_what_is_missing(client: Client, chain: Chain, model: Any, start_worker: Any) -> None:
    def play(exchange: Exchange) -> None:
        exchange.pause(PATIENCE) if exchange.number == 2 else SAYS(exchange)

    with model(play) as server:
        run = begin(client, chain, writer="openai")
        first = start_worker(server.url, 1)
        wait_for(lambda: states()[:2] == ["ready", "writing"] and len(server.seen) == 2)
        first.kill()
        first.wait()
        assert "writing" in page_of(client, run), "the page is there while nobody works"
        start_worker(server.url, 1)
        wait_for(lambda: states() == ["ready"] * 3)
        assert len(server.seen) == 4
    asked = Counter(seen.body["messages"][0]["content"] for seen in server.seen)
    assert sorted(asked.values()) == [1, 1, 2], "what was finished is not asked for again"
    assert Version.objects.count() == 1


def test_two_workers_do_not_write_a_piece_twice(client: Client, model: Any, start_worker: Any) -> None:
    def play(exchange: Exchange) -> None:
        exchange.pause(0.05)
        SAYS(exchange)

    with model(play) as server:
        run = begin(client, summarizable(sections=13, pairs=1), writer="openai")
        start_job(WRITE, owner=run.author, max_attempts=ATTEMPTS, run=run.pk)
        for _ in range(2):
            start_worker(server.url, 2)
        wait_for(lambda: states() == ["ready"] * 12)
    asked = Counter(seen.body["messages"][0]["content"] for seen in server.seen)
    assert len(asked) == 12
    assert set(asked.values()) == {1}


def test_a_person_is_not_overwritten_by_a_worker(client: Client, chain: Chain, model: Any) -> None:
    typed = threading.Event()

    def play(exchange: Exchange) -> None:
        assert typed.wait(PATIENCE)
        SAYS(exchange)

    with model(play, llm_concurrency=1):
        run = begin(client, chain, writer="openai")
        worker = threading.Thread(target=work_off)
        worker.start()
        wait_for(lambda: SummaryPiece.objects.filter(key__contains="s1.", state="writing").exists())
        do(client, run.pieces.get(key__contains="s1."), "save", text="My own words.")
        typed.set()
        worker.join(PATIENCE)
    assert run.pieces.get(key__contains="s1.").text == "My own words."
    assert states() == ["ready"] * 3


def test_a_piece_is_asked_for_once_however_often_the_button_is_pressed(client: Client, chain: Chain) -> None:
    run = begin(client, chain)
    work_off()
    piece = SummaryPiece.objects.earliest("pk")
    write_again(piece)
    do(client, piece, "again")
    work_off()
    piece.refresh_from_db()
    assert piece.attempts == 2
    stop(run)
    assert SummaryRun.objects.count() == 1


def test_a_run_that_is_thrown_away_while_it_is_written_ends_quietly(client: Client, chain: Chain, model: Any) -> None:
    def play(exchange: Exchange) -> None:
        exchange.pause(PATIENCE)

    with model(play) as server:
        run = begin(client, chain, writer="openai")
        job = run.job
        worker = threading.Thread(target=work_off)
        worker.start()
        wait_for(lambda: len(server.seen) == 2)
        client.post(f"/c/{chain.pk}/summaries/{run.pk}/do", {"act": "discard"})
        worker.join(PROMPT)
        assert not worker.is_alive()
    job.refresh_from_db()
    assert (job.state, job.message) == ("cancelled", "")


def test_the_time_left_is_that_of_the_texts_written_so_far() -> None:
    pieces = [SummaryPiece(pk=1, seconds=120.0, progress=1.0), *(SummaryPiece(pk=pk, progress=0.0) for pk in (2, 3, 4))]
    looks = {1: "ready", 2: "writing", 3: "writing", 4: "waiting"}
    assert time_left(pieces, looks) == "about 3 minutes left"
    assert time_left(pieces[1:], looks) == "" == time_left(pieces[:1], looks)
