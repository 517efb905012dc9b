"""The loss report: which facts are found, which of them a summary still holds, and that it ends in time."""

from __future__ import annotations

import pytest
from hypothesis import given

from chainviz.core.chain.messages import Message, ToolCall
from chainviz.core.chain.paths import Path
from chainviz.core.operations.summarize import losses
from chainviz.core.operations.summarize.facts import KINDS, Fact, facts_in
from tests.core.pictures import ai, call, h, result, tool
from tests.core.strategies import chains
from tests.cpu import within_cpu_seconds


@pytest.mark.parametrize(
    ("text", "kind", "fact"),
    [
        ("see src/app/main.py:12 there", "path", "src/app/main.py"),
        ("in /etc/hosts.", "path", "/etc/hosts"),
        ("open README.md now", "path", "README.md"),
        ("C:\\Users\\bob\\x.txt here", "path", "C:\\Users\\bob\\x.txt"),
        ("--- a/lib/tree.py", "path", "lib/tree.py"),
        ("go to https://example.org/a?b=1, then", "url", "https://example.org/a?b=1"),
        ("commit 1f3a9bc42e fixed it", "id", "1f3a9bc42e"),
        ("order 9f1c2d3e-0000-4aaa-8bbb-123456789abc", "id", "9f1c2d3e-0000-4aaa-8bbb-123456789abc"),
        ("PROJ-42 and #77", "id", "PROJ-42"),
        ("PROJ-42 and #77", "id", "#77"),
        ("booked as JG7FMM by", "id", "JG7FMM"),
        ("user omar_reyes_3817 says", "id", "omar_reyes_3817"),
        ("it costs $1,234.50 now", "number", "$1,234.50"),
        ("95% done", "number", "95%"),
        ("$ make test", "command", "make test"),
        ("\n  KeyError: 'user'\n", "error", "KeyError: 'user'"),
        ("2026-10-01 12:00:07,318 ERROR: disk full", "error", "disk full"),
        ("line 120 of it", "counter", "120"),
        ("at 12:00:07 sharp", "counter", "12:00:07"),
    ],
)  # fmt: skip
def test_facts_are_found(text: str, kind: str, fact: str) -> None:
    assert Fact(kind, fact) in list(facts_in(text))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["this and/or that", "a plain sentence.", "7 of 9", "1/2", "</div>", "raise ValueError(x)", "100MB of RAM", "ERRORS:"]
)
def test_what_is_no_fact_is_none(text: str) -> None:
    assert list(facts_in(text)) == []


CHAIN = (
    ai("I changed src/a.py and src/b.py.", call("x", "shell", '{"command": "pytest -x tests"}')),
    tool(result("x", "FAILED tests/test_a.py - exit code 1\n12 passed, 120 skipped")),
)
PLACES = (Path(1, 2, 0), Path(1, 2, 1))


def test_each_loss_has_the_path_of_where_it_was() -> None:
    report = losses(CHAIN, "Changed src/a.py; 120 skipped.", PLACES)
    assert {(loss.kind, loss.text, str(loss.path)) for loss in report.losses} == {
        ("path", "src/b.py", "s1.p2.m0.c0"), ("path", "tests/test_a.py", "s1.p2.m1.c0"),
        ("command", "pytest -x tests", "s1.p2.m0.c1"), ("counter", "12", "s1.p2.m1.c0"),
        ("error", "FAILED tests/test_a.py - exit code 1", "s1.p2.m1.c0"),
    }  # fmt: skip
    shares = {share.kind: (share.kept, share.found) for share in report.shares}
    assert shares == {"path": (1, 3), "command": (0, 1), "counter": (1, 2), "error": (0, 1)}
    assert report.complete


def test_the_losses_that_weigh_most_come_first() -> None:
    message = ai("12 files, $4.50, see https://a.example/x, ABC-17, $ ls\n$ make test\n/srv/app/x.py\nError: out of memory")
    kinds = [loss.kind for loss in losses([message], "nothing").losses]
    assert kinds == sorted(kinds, key=list(KINDS).index)
    assert (kinds[0], kinds[-1]) == ("error", "counter")


def test_a_fact_inside_a_longer_word_is_not_there() -> None:
    report = losses([ai("see a.py and 12 files")], "extra.py has 112 files")
    assert [loss.text for loss in report.losses] == ["a.py", "12"]


@given(chains)
def test_the_whole_text_as_its_own_summary_loses_nothing(messages: list[Message]) -> None:
    everything = "\n".join(str(getattr(p, "text", getattr(p, "content", ""))) for m in messages for p in m.parts)
    plain = [m for m in messages if not any(isinstance(part, ToolCall) for part in m.parts)]
    assert losses(plain, everything).losses == ()
    assert all(0 <= share.kept <= share.found for share in losses(messages, "").shares)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"/srv/f{i}/x.py error {i} " for i in range(100_000)), "a" * 3_000_000, "/a" * 1_000_000, "1," * 1_000_000,
        "error\n" * 300_000, "a-" * 1_000_000, "http://" * 300_000, "\n" * 2_000_000, "~" * 2_000_000, "x." * 1_000_000,
    ],
)  # fmt: skip
def test_it_ends_in_time_and_says_when_it_did_not_look_at_all(text: str) -> None:
    messages = [h(text[i : i + 150_000]) for i in range(0, len(text), 150_000)]
    report = within_cpu_seconds(4, lambda: losses(messages, text[-60_000:]))
    assert len(report.losses) <= 6_000


def test_a_report_that_stopped_early_says_so() -> None:
    assert not losses([ai("x" * 300_000)], "").complete
    assert not losses([ai(" ".join(f"{i}" for i in range(100, 5_000)))], "").complete
