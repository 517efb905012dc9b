"""Calls and results, case by case: the reference's behaviour and, by default, the recommended one."""

from __future__ import annotations

import base64
from dataclasses import replace
from operator import itemgetter
from typing import Any

import pytest

from chainviz.core.chain.messages import Binary, Image
from chainviz.core.text_formats import get_text_format
from chainviz.core.toolchain import CallsError, Failure, Output, Result, ResultOptions, execute, parse_calls
from tests.cases import cases

GO_TYPES: dict[type, set[str]] = {
    str: {"string", "time.Time"}, int: {"int", "uint64"}, float: {"float64"}, bool: {"bool"}, type(None): {"<nil>"},
}  # fmt: skip


def read(case: dict[str, Any], *, reference: bool) -> dict[str, Any]:
    try:
        calls = parse_calls(case["content"], case["chain"], case["schemas"], reference=reference)
    except CallsError as error:
        return {"error": error.kind}
    return {"calls": [{"name": call.name, "args": call.arguments} for call in calls]}


def go_values(call: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments, with floats where Go has them: its JSON writes long ones without an exponent."""
    if call["args"] is None:
        return None
    types = call["go_types"]
    return {key: float(value) if types[key] == "float64" else value for key, value in call["args"].items()}


@pytest.mark.parametrize("case", cases("toolchain/calls.json"), ids=itemgetter("id"))
def test_calls_equal_the_reference(case: dict[str, Any]) -> None:
    found, expected = read(case, reference=True), case["expected"]
    if "error" in expected:
        assert found == expected
        return
    assert found == {"calls": [{"name": call["name"], "args": go_values(call)} for call in expected["calls"]]}
    for call, wanted in zip(found["calls"], expected["calls"], strict=True):
        types = {key: type(value) for key, value in (call["args"] or {}).items()}
        assert types.keys() == wanted["go_types"].keys()
        assert all(wanted["go_types"][key] in GO_TYPES[kind] for key, kind in types.items())


@pytest.mark.parametrize("case", cases("toolchain/calls.json"), ids=itemgetter("id"))
def test_calls_follow_the_recommendation(case: dict[str, Any]) -> None:
    found = read(case, reference=False)
    if "recommended_note" in case:
        assert found["calls"][0]["args"] == {"n": 12345678901234567890}
        return
    wanted = case["expected"]
    if "calls" in wanted:
        wanted = {"calls": [{"name": call["name"], "args": call["args"]} for call in wanted["calls"]]}
    assert found == wanted


def tools(case: dict[str, Any]) -> dict[str, Output | Failure]:
    """What the case's tools return. The arguments' schema is checked by the reference; its verdict is in the case."""
    verdicts = (
        dict(zip(*(case["expected"]["head"]["raw"][key] for key in ("calls", "errors")), strict=True))
        if any("schema" in tool for tool in case["tools"])
        else {}
    )
    found: dict[str, Output | Failure] = {}
    for tool in case["tools"]:
        error = tool.get("error") or verdicts.get(tool["name"])
        media = tuple(medium(*each) for each in tool.get("media", ()))
        found[tool["name"]] = Failure(error) if error else Output(tool["text"], media, tool.get("instructions", ""))
    return found


def medium(mime: str, content: str) -> Image | Binary:
    return Image(content) if mime == "url" else Binary(mime, base64.b64decode(content))


def executed(case: dict[str, Any], **options: Any) -> Result | str:
    text_format = replace(get_text_format(case["format"]), reference=options.get("reference", False))
    try:
        return execute(case["content"], tools(case), text_format, ResultOptions(case["chain"], **options))
    except CallsError as error:
        return error.kind


def known_wording(text: str) -> str:
    """The wording for unknown tools is free; ours is that of the errors list."""
    return text.replace("{UNKNOWN_TOOL:", "unknown tool: ").replace("nope}", "nope").replace("bad}", "bad")


@pytest.mark.parametrize("case", cases("toolchain/execute.json"), ids=itemgetter("id"))
def test_execute_equals_the_reference(case: dict[str, Any]) -> None:
    expected = case["expected"]["head"]
    found = executed(case, reference=True)
    if isinstance(found, str):
        assert found == expected["error"]
        return
    assert found.text == known_wording(expected["text"])
    assert [call.name for call in found.raw.calls] == expected["raw"]["calls"]
    assert list(found.raw.errors) == expected["raw"]["errors"]
    results = [each and {"name": each.name, "output": each.output} for each in found.raw.results]
    assert results == expected["raw"]["results"]
    assert list(found.media) == [medium(*each) for each in expected["media"]]
    assert len(found.as_content_parts()) == expected["as_content_parts"]
    section = executed(case, reference=True, wrapper="section")
    assert isinstance(section, Result)
    assert section.text == known_wording(expected["observation_head_agent"])


@pytest.mark.parametrize("case", cases("toolchain/execute.json"), ids=itemgetter("id"))
def test_execute_follows_the_recommendation(case: dict[str, Any]) -> None:
    found = executed(case)
    if "recommended_text" not in case["expected"]:
        assert found == case["expected"]["head"]["error"]
        return
    assert isinstance(found, Result)
    assert found.text == case["expected"]["recommended_text"]


@pytest.mark.parametrize("case", cases("toolchain/nil_format.json"), ids=itemgetter("id"))
def test_a_text_format_is_required(case: dict[str, Any]) -> None:
    assert "panic" in case["expected"]
    with pytest.raises(TypeError):
        execute("{}", {}, None)  # type: ignore[arg-type]
