"""Several pieces at the same time: bounded, each with its own fate, stopped together, a failed one asked again alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from chainviz.core.operations.summarize import SummaryRequest, WriterError
from chainviz.llm import Watch, Written, write_all
from tests.llm.asking import request, writer
from tests.llm.fake_server import Exchange, says, serving
from tests.waiting import PATIENCE, PROMPT, wait_for

PIECES = [request(key=f"pair:s{number}.p1", text=f"piece {number}") for number in range(1, 9)]


@dataclass
class Scripted:
    """Writes what a test's function says."""

    script: Callable[[SummaryRequest, Callable[[], bool]], str]
    name: str = "scripted"
    label: str = "scripted"
    lock: threading.Lock = field(default_factory=threading.Lock)
    now: int = 0
    most: int = 0

    def write(
        self,
        request: SummaryRequest,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        progress: Callable[[float, str], None] = lambda done, text: None,
    ) -> str:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            progress(0.5, "half")
            return self.script(request, cancelled)
        finally:
            with self.lock:
                self.now -= 1


def patient(_: SummaryRequest, cancelled: Callable[[], bool]) -> str:
    wait_for(cancelled)
    raise WriterError("Cancelled.")


@pytest.mark.parametrize("concurrency", [1, 3, 20])
def test_never_more_at_once_than_allowed(concurrency: int) -> None:
    allowed = min(concurrency, len(PIECES))

    def script(request: SummaryRequest, _: object) -> str:
        wait_for(lambda: writers.most >= allowed)
        time.sleep(0.05)  # room for one too many
        return request.key

    writers = Scripted(script)
    results = write_all(PIECES, writers, concurrency=concurrency)
    assert writers.most == allowed
    assert [written.text for written in results] == [piece.key for piece in PIECES]


def test_nothing_to_write() -> None:
    assert write_all([], Scripted(patient), concurrency=4) == ()


def test_every_piece_is_told_once_from_the_callers_thread() -> None:
    told: list[Written] = []
    stages: list[tuple[str, float, str]] = []
    here = threading.current_thread()

    def slowly(request: SummaryRequest, _: object) -> str:
        wait_for(lambda: stages)
        return request.key

    def on_piece(written: Written) -> None:
        assert threading.current_thread() is here
        told.append(written)

    def on_progress(request: SummaryRequest, done: float, stage: str) -> None:
        assert threading.current_thread() is here
        stages.append((request.key, done, stage))

    results = write_all(PIECES, Scripted(slowly), concurrency=4, watch=Watch(on_piece=on_piece, on_progress=on_progress))
    assert sorted(told, key=lambda each: each.request.key) == list(results)
    assert stages
    assert {stage[1:] for stage in stages} == {(0.5, "half")}


def test_a_failed_piece_costs_no_other_and_is_asked_again_alone() -> None:
    def play(exchange: Exchange) -> None:
        asked = exchange.server.seen[exchange.number - 1].body["messages"][0]["content"]
        if "piece 3" in asked and sum(seen.body["messages"][0]["content"] == asked for seen in exchange.server.seen) == 1:
            exchange.answer(400, '{"error": {"message": "bad day"}}')
            return
        says(asked.split("\n")[-4])(exchange)

    with serving(play) as server:
        results = write_all(PIECES, writer(server.url, seconds=PATIENCE), concurrency=4)
        assert [written.state for written in results] == ["done"] * 2 + ["failed"] + ["done"] * 5
        assert "bad day" in results[2].cause
        assert not results[2].retryable
        (again,) = write_all([results[2].request], writer(server.url), concurrency=4)
    assert (again.state, again.text) == ("done", "piece 3")
    assert len(server.seen) == len(PIECES) + 1


def test_a_bug_of_one_piece_is_its_own(caplog: pytest.LogCaptureFixture) -> None:
    def script(request: SummaryRequest, _: object) -> str:
        return str(1 // 0) if "s2" in request.key else "fine"

    results = write_all(PIECES[:3], Scripted(script), concurrency=2)
    assert [written.state for written in results] == ["done", "failed", "done"]
    assert "ZeroDivisionError" in results[1].cause
    assert "integer division" not in results[1].cause
    assert "ZeroDivisionError" in caplog.text


def test_a_cancel_keeps_what_is_finished_and_ends_the_rest_within_a_second() -> None:
    def play(exchange: Exchange) -> None:
        says("done")(exchange) if exchange.number <= 2 else exchange.pause(PATIENCE)

    told: list[Written] = []
    with serving(play) as server:
        asked = writer(server.url, seconds=PATIENCE)
        cancelled_at: list[float] = []

        def cancelled() -> bool:
            if len(told) >= 2 and not cancelled_at:
                cancelled_at.append(time.monotonic())
            return bool(cancelled_at)

        results = write_all(PIECES, asked, concurrency=3, watch=Watch(cancelled, told.append))
        assert time.monotonic() - cancelled_at[0] <= PROMPT
    assert sorted(written.state for written in results) == ["cancelled"] * 6 + ["done"] * 2
    assert len(told) == len(PIECES)
    assert len(server.seen) <= 6


def test_a_writer_that_does_not_heed_a_cancel_is_not_waited_for() -> None:
    over = threading.Event()

    def deaf(_: SummaryRequest, __: object) -> str:
        over.wait(PATIENCE)
        return "late"

    start = time.monotonic()
    results = write_all(PIECES, Scripted(deaf), concurrency=2, watch=Watch(lambda: True))
    assert time.monotonic() - start < PROMPT
    over.set()
    assert {written.state for written in results} == {"cancelled"}


class Stop(Exception):
    pass


def test_an_error_of_the_caller_ends_all_writing() -> None:
    def first_fails(request: SummaryRequest, cancelled: Callable[[], bool]) -> str:
        return "first" if "s1" in request.key else patient(request, cancelled)

    def on_piece(_: Written) -> None:
        raise Stop

    writers = Scripted(first_fails)
    with pytest.raises(Stop):
        write_all(PIECES, writers, concurrency=4, watch=Watch(on_piece=on_piece))
    wait_for(lambda: writers.now == 0, PROMPT)
