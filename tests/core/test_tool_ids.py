"""Templates: what they make they accept, wrong ones are refused in words, and new ids never collide or cross over."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import Message, ToolCall, ToolResult
from chainviz.core.chain.tool_ids import CHARSETS, parse_template, renamings
from chainviz.core.chain.tree import BodyPair, parse
from chainviz.core.errors import OptionsError, Refused
from tests.core.pictures import ai, call, h, tool
from tests.core.strategies import chains

TEMPLATES = [
    "call_{r:24:x}", "call_{r:24:b}", "toolu_{r:24:b}", "{r:8:x}", "tooluse_{r:22:x}", "call_{r:2:d}_{r:24:b}",
    "call_-{r:19:d}", "call_{r:24:h}", "{f}:{r:1:d}", "chatcmpl-tool-{r:32:h}", "плюс{r:3:l}", "lit", "",
]  # fmt: skip


@given(st.sampled_from(TEMPLATES), st.text(max_size=5), st.integers(0, 99))
def test_a_template_accepts_what_it_makes(template: str, name: str, seed: int) -> None:
    parsed = parse_template(template)
    assert parsed.accepts(parsed.generate(random.Random(seed), name), name)


@pytest.mark.parametrize("charset", CHARSETS)
def test_every_charset_has_a_long_and_a_short_name(charset: str) -> None:
    template = parse_template(f"<{{r:9:{charset}}}>")
    id = template.generate(random.Random(1))
    assert len(id) == 11 and set(id[1:-1]) <= set(CHARSETS[charset][0])
    assert not template.accepts("<" + "!" * 9 + ">")


@pytest.mark.parametrize("template", ["{r:0:d}", "{r:257:d}", "{r:99999999999999999999:x}", "{r:5:z}", "{r: 5:x}", "{r:5}", "{F}"])
def test_a_template_that_cannot_work_is_refused_in_words(template: str) -> None:
    with pytest.raises(OptionsError, match=r"The id template"):
        parse_template(template)


def test_a_newline_at_the_end_is_not_overlooked() -> None:
    assert not parse_template("lit").accepts("lit\n")
    assert not parse_template("{r:3:d}").accepts("١٢٣")


def renamed(messages: list[Message], template: str, *, unique: bool = False, seed: int = 0) -> list[Message]:
    changed = list(messages)
    for each in renamings(parse(messages), parse_template(template), random.Random(seed), unique=unique):
        parts = list(changed[each.message].parts)
        part = parts[each.part]
        if isinstance(part, ToolCall):
            assert part.id == each.old
            parts[each.part] = replace(part, id=each.new)
        else:
            assert isinstance(part, ToolResult) and part.call_id == each.old
            parts[each.part] = replace(part, call_id=each.new)
        changed[each.message] = replace(changed[each.message], parts=tuple(parts))
    return changed


def test_calls_sharing_an_id_keep_their_own_results() -> None:
    chain = [h(), ai(call("x", "f"), call("x", "g")), tool("x"), tool("x")]
    calls = renamed(chain, "{r:8:x}")[1].calls
    results = [message.results[0].id for message in renamed(chain, "{r:8:x}")[2:]]
    assert [c.id for c in calls] == results and len(set(results)) == 2


def test_an_id_kept_in_one_pair_is_not_renamed_by_another() -> None:
    chain = [h(), ai(call("g:1", "f")), tool("g:1"), ai(call("g:1", "g")), tool("g:1")]
    assert renamed(chain, "{f}:{r:1:d}")[3:] == chain[3:]
    assert renamed(chain, "{f}:{r:1:d}")[2].results[0].id.startswith("f:")


def test_a_small_template_never_repeats_an_id_in_a_pair() -> None:
    chain = [h(), ai(*[call(f"{i}", "f") for i in range(10)]), *[tool(f"{i}") for i in range(10)]]
    for seed in range(50):
        assert len({c.id for c in renamed(chain, "{f}:{r:1:d}", seed=seed)[1].calls}) == 10


def test_a_template_without_room_is_refused() -> None:
    with pytest.raises(Refused, match="only 10 different ids for calls of f"):
        renamed([h(), ai(*[call(f"{i}", "f") for i in range(11)])], "{f}:{r:1:d}")


def test_ids_can_be_made_unique_in_the_whole_chain() -> None:
    chain = [h(), ai(call("call_1")), tool("call_1"), ai(call("call_1")), tool("call_1")]
    assert renamed(chain, "call_{r:1:d}") == chain
    again = renamed(chain, "call_{r:1:d}", unique=True)
    assert again[:3] == chain[:3] and again[3].calls[0].id == again[4].results[0].id != "call_1"


@given(chains, st.integers(0, 9))
def test_renaming_keeps_validity_and_is_idempotent(messages: list[Message], seed: int) -> None:
    after = renamed(messages, "call_{r:24:x}", unique=True, seed=seed)
    assert renamed(after, "call_{r:24:x}", unique=True, seed=seed + 1) == after
    ids = [c.id for message in after for c in message.calls]
    assert len(ids) == len(set(ids))
    for before, now in zip(parse(messages).pairs(), parse(after).pairs(), strict=True):
        assert now[1].is_valid or not before[1].is_valid or lacks_results(before[1])


def lacks_results(pair: BodyPair[Message]) -> bool:
    """Calls share an id, and there are fewer results with it than calls: the tree takes one for all of them."""
    called = Counter(call.id for message in pair.messages for call in message.calls)
    answered = Counter(result.id for message in pair.messages for result in message.results)
    return any(count > answered[id] for id, count in called.items())
