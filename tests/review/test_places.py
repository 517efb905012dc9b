"""Threads keep their place through every operation."""

from __future__ import annotations

from typing import Any

import pytest

from chainviz.accounts.models import local_owner
from chainviz.chains.models import Chain
from chainviz.core.chain.paths import parse_path
from chainviz.core.operations import OPERATIONS
from chainviz.drafts import services
from chainviz.drafts.operations.run import change
from chainviz.drafts.target import target_of_version, version_of
from chainviz.review.models import Place, Thread
from chainviz.review.threads.notes import place_threads
from chainviz.review.threads.writing import NewThread, begin
from chainviz.store.content.chain import StoredChain
from tests.chains.making import STORY, ai, human, make_chain, result

pytestmark = pytest.mark.django_db

TALK = [
    human("What is the time?"),
    ai("Let me look at the clock.", ("c1", "clock", {"zone": "UTC"})),
    result("c1", "It is noon, says the long answer of the clock. " * 20),
    ai("It is noon."),
    human("And in Oslo?"),
    ai("One o'clock. I am quite sure."),
    human("Thanks"),
    ai("You are welcome."),
]


def thread_on(chain: Chain, path: str, quote: str = "", *, version: int = 1) -> Thread:
    parsed = parse_path(path) if path else None
    about: dict[str, Any] = {"kind": Thread.Kind.CHAIN if parsed is None else Thread.Kind.NODE, "path": path}
    if parsed is not None and parsed.part is not None:
        about["kind"] = Thread.Kind.PART
    if quote:
        text = str(StoredChain(version_of(chain, version).snapshot).at(parsed)[0].parts[parsed.part])  # type: ignore[arg-type, index, union-attr]
        start = text.index(quote) - len("Text(text='")
        about |= {"kind": Thread.Kind.TEXT, "start": start, "end": start + len(quote), "quote": quote}
    return begin(chain, local_owner(), NewThread(version=version, **about), "Look here").thread


def apply(chain: Chain, name: str, version: int = 1, **options: Any) -> None:
    """A new version in which an operation was applied."""
    operation = next(each for each in OPERATIONS if each.name == name)
    draft = change(target_of_version(chain, version, local_owner()), operation, operation.Options.model_validate(options))
    services.save(draft, note="", by=local_owner())
    chain.refresh_from_db()


def place(thread: Thread, version: int = 2) -> tuple[str, str]:
    stored = StoredChain(version_of(thread.chain, version).snapshot)
    place_threads(thread.chain, stored)
    found = Place.objects.get(thread=thread, snapshot_key=stored.snapshot.pk)
    return found.state, found.path


EDITS: list[tuple[str, dict[str, Any], dict[str, tuple[str, str]]]] = [
    ("edit", {"path": "s1.p2.m0.c0", "action": "text", "text": "It was noon."}, {
        "s1.p2": ("outdated", "s1.p2"), "s1.p2.m0": ("outdated", "s1.p2.m0"), "s1.p2.m0.c0": ("outdated", "s1.p2.m0.c0"),
        "s1.p1": ("carried", "s1.p1"), "s1": ("outdated", "s1"), "": ("carried", ""),
    }),
    ("edit", {"path": "s1.p2", "action": "delete"}, {
        "s1.p2": ("removed", ""), "s1.p2.m0.c0": ("removed", ""), "s2.p1": ("carried", "s2.p1"),
    }),
    ("edit", {"path": "s1.h.m0", "action": "insert", "where": "before", "role": "human", "text": "Good morning"}, {
        "s1.h.m0": ("carried", "s1.h.m1"), "s2.p1.m0.c0": ("carried", "s2.p1.m0.c0"),
    }),
    ("edit", {"path": "s2.h.m0", "action": "delete"}, {
        "s2.p1": ("carried", "s1.p3"), "s2.h.m0": ("removed", ""), "s3.p1": ("carried", "s2.p1"),
    }),
    ("edit", {"path": "s2", "action": "move_up"}, {
        "s2": ("carried", "s1"), "s1.p2": ("carried", "s2.p2"), "s2.p1.m0.c0": ("carried", "s1.p1.m0.c0"),
    }),
    ("redact", {"policy": "keep_last_n", "keep": 0}, {
        "s1.p1": ("outdated", "s1.p1"), "s1.p1.m1.c0": ("outdated", "s1.p1.m1.c0"), "s1.p1.m0": ("carried", "s1.p1.m0"),
    }),
    ("convert", {"to": "anthropic"}, {
        "s1.h.m0": ("carried", "s1.h.m0"), "s1.p1.m0.c0": ("carried", "s1.p1.m0.c0"), "s3.p1": ("carried", "s3.p1"),
    }),
    ("summarize", {"preserve_last": False, "use_qa": True, "max_qa_sections": 1, "max_qa_bytes": 10}, {
        "s1.p1": ("folded", "s1.p1"), "s1.p1.m1.c0": ("folded", "s1.p1"), "s2.p1.m0": ("folded", "s1.p1"),
    }),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "expected"), EDITS)
def test_where_threads_stand_after(name: str, options: dict[str, Any], expected: dict[str, tuple[str, str]]) -> None:
    chain = make_chain(TALK)
    threads = {path: thread_on(chain, path) for path in expected}
    apply(chain, name, **options)
    assert {path: place(thread) for path, thread in threads.items()} == expected
    # and each stands where it was begun, also when its own version is looked at again
    assert {path: place(thread, 1) for path, thread in threads.items()} == {path: ("carried", path) for path in expected}


def test_after_a_repair() -> None:
    chain = make_chain(STORY)
    threads = [thread_on(chain, path) for path in ("s2.p1", "s2.p1.m0", "s1.p1.m2.c0", "s3.p1")]
    apply(chain, "repair")
    assert [place(thread) for thread in threads] == [
        ("carried", "s2.p1"), ("carried", "s2.p1.m0"), ("carried", "s1.p1.m2.c0"), ("carried", "s3.p1"),
    ]  # fmt: skip


def test_a_range_of_text_stays_with_its_words() -> None:
    chain = make_chain(TALK)
    sure, clock = thread_on(chain, "s2.p1.m0.c0", "quite sure"), thread_on(chain, "s2.p1.m0.c0", "One o'clock")
    apply(chain, "edit", path="s2.p1.m0.c0", action="text", text="It is one. I am quite sure.")
    assert place(sure) == ("carried", "s2.p1.m0.c0")
    assert Place.objects.filter(thread=sure).latest("pk").start == len("It is one. I am ")
    assert place(clock) == ("outdated", "s2.p1.m0.c0")


def test_merging_and_splitting_keep_the_words() -> None:
    chain = make_chain([human("One two three"), human("four five"), ai("Six.")])
    thread = thread_on(chain, "s1.h.m1.c0", "five")
    apply(chain, "edit", path="s1.h.m0", action="merge", join=True, separator="\n")
    assert place(thread) == ("carried", "s1.h.m0.c0")
    apply(chain, "edit", version=2, path="s1.h.m0.c0", action="split", offset=len("One two three\nfour "))
    assert place(thread, 3) == ("carried", "s1.h.m1.c0")


def test_a_restored_version_has_its_threads_again() -> None:
    chain = make_chain(TALK)
    old = thread_on(chain, "s1.p2")
    apply(chain, "edit", path="s1.p2", action="delete")
    new = thread_on(chain, "s2.p1", version=2)
    from chainviz.chains.services import restore

    restore(chain, version_of(chain, 1), by=local_owner())
    assert place(old, 3) == ("carried", "s1.p2")
    assert place(new, 3) == ("carried", "s2.p1")
