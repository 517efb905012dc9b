from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import Message, Text
from chainviz.core.chain.paths import parse_path
from chainviz.store.content import uploads
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.drafts import add_step, start_draft
from chainviz.store.history.steps import NewStep
from chainviz.store.query.find import find
from chainviz.store.query.problems import ProblemFilter, next_problem, previous_problem, problems
from chainviz.store.query.search_pattern import Needle
from tests.store.test_import import stored

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stub_format")]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: Any) -> None:
    monkeypatch.setattr(uploads, "CHUNK", 50)
    monkeypatch.setattr("chainviz.store.query.find.CHUNK", 50)


LONG: list[dict[str, Any]] = [
    *({"role": "human", "text": f"item number {i} with some words around it"} for i in range(40)),
    {"role": "ai", "text": 'Ünïcode "quoted" and \U0001f600 smile'},
    {"role": "tool", "results": [["c9", "ИТОГ: 5 < 6 & ok\ttab"]]},
]


def paths(chain: StoredChain, text: str, **options: Any) -> list[str]:
    return [str(hit.path) for hit in find(chain, text, **options).hits]


def test_text_is_found_however_it_is_spelled() -> None:
    chain = StoredChain(stored(LONG).snapshot)
    assert paths(chain, "NUMBER 17") == ["s1.h.m17.c0"]
    assert paths(chain, "NUMBER 17", case_sensitive=True) == []
    for text in ('"quoted"', "ünïcode", "\U0001f600", "Ünï", '"'):
        assert paths(chain, text) == ["s1.p1.m0.c0"], text
    for text in ("итог", "ИТОГ", "5 < 6", "\t", "&"):
        assert paths(chain, text) == ["s1.p1.m1.c0"], text
    assert paths(chain, "absent") == []
    hit = find(chain, "quoted").hits[0]
    assert (hit.before[-9:], hit.match, hit.after[:5]) == ('Ünïcode "', "quoted", '" and')


def test_search_goes_on_where_it_stopped() -> None:
    chain = StoredChain(stored(LONG).snapshot)
    seen: list[str] = []
    after = None
    for _ in range(20):
        found = find(chain, "item", limit=7, after=after)
        seen += [str(hit.path) for hit in found.hits]
        after = found.next
        if after is None:
            break
    assert seen == [f"s1.h.m{i}.c0" for i in range(40)]


def test_edited_messages_are_found_and_removed_ones_are_not() -> None:
    version = stored(LONG)
    draft = start_draft(version, author="me")
    new = Message("human", (Text("item of mine"),))
    snapshot = add_step(draft, NewStep([Splice(3, 2, (new,)), Splice(20, 1)], "edit"))
    chain = StoredChain(snapshot)
    assert paths(chain, "mine") == ["s1.h.m3.c0"]
    assert paths(chain, "number 4 ") == []
    assert paths(chain, "number 5 ") == ["s1.h.m4.c0"]
    assert len(paths(chain, "item")) == 38
    assert paths(StoredChain(version.snapshot), "mine") == []


@given(st.text(min_size=1, max_size=6), st.booleans(), st.booleans())
def test_no_spelling_is_missed(text: str, ascii: bool, sensitive: bool) -> None:
    try:
        raw = json.dumps({"text": f"before{text}behind"}, ensure_ascii=ascii).encode()
    except UnicodeEncodeError:
        return
    needle = Needle(text, sensitive)
    assert needle.place_in(needle.prepared(raw)) >= 0
    assert needle.find_in(f"before{text}behind") >= 0


def test_problems_are_walked_in_both_directions() -> None:
    pair = [{"role": "human", "text": "x"}, {"role": "ai", "calls": [["c", "t"]]}]
    chain = StoredChain(stored(pair * 10).snapshot)
    tree = ProblemFilter(provider="")
    page = problems(chain, count=4, wanted=tree)
    assert (page.total, str(page.next), len(page.problems)) == (10, "s5.p1", 4)
    rest = problems(chain, page.next, count=99, wanted=tree)
    assert [problem.message for problem in (*page.problems, *rest.problems)] == list(range(1, 20, 2))
    first = next_problem(chain, None, tree)
    assert first is not None and str(first.path) == "s1.p1.m0.c0"
    second = next_problem(chain, first.path, tree)
    assert second is not None and second.path.section == 2
    back = previous_problem(chain, parse_path("s3"), tree)
    assert back is not None and back.path.section == 2
    assert problems(chain, wanted=ProblemFilter("", "warning")).problems == ()
