"""Every sentence that a rule quotes is recognised when it is pasted: with other ids, numbers and quotes, in JSON and in lines of logs."""

from __future__ import annotations

import html
import json
import re
import textwrap
from collections.abc import Callable, Iterator

import pytest

from chainviz.core.formats.vendors import PROVIDERS, WORDINGS, Wording
from chainviz.core.load import load_file
from chainviz.core.pasted_errors.locate import locate_error
from chainviz.core.pasted_errors.message import known_sentences, read_error
from chainviz.core.providers.rules import Rule
from tests.core.error_classes import CASES, ErrorCase

VALUES = {"index": "17", "part": "3", "length": "81", "id": "fc-Zq81:2", "ids": "toolu_Zq81, call|9"}


def filled(says: str, **values: str) -> str:
    """The sentence as an API sends it, with other values than those of any request in these tests."""
    return re.sub(r"\{([a-z_]+)\}", lambda found: {**VALUES, **values}.get(found[1], "some_value 7"), says)


def envelope(message: str) -> str:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}})


def claude_body(message: str) -> str:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}, "request_id": "req_011C"}
    return json.dumps(body)


WRAPPED: dict[str, Callable[[str], str]] = {
    "alone": lambda message: message,
    "JSON": envelope,
    "JSON over lines": lambda message: json.dumps(json.loads(envelope(message)), indent=2),
    "Claude Code": lambda message: f"API Error: 400 {claude_body(message)}",
    "Python SDK": lambda message: f"openai.BadRequestError: Error code: 400 - {json.loads(envelope(message))!r}",
    "Google": lambda message: json.dumps([{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}]),
    "google-genai": lambda message: f"400 INVALID_ARGUMENT. {{'error': {{'code': 400, 'message': {message!r}}}}}",
    "boto3": lambda message: f"An error occurred (ValidationException) when calling the Converse operation: {message}",
    "LiteLLM": lambda message: f"litellm.BadRequestError: AnthropicException - {claude_body(message).encode()!r}",
    "Vercel": lambda message: f"AI_APICallError: {message}\n    at x {{\n  statusCode: 400,\n  responseBody: {envelope(message)!r}\n}}",
    "JSON in JSON": lambda message: json.dumps({"level": "error", "msg": f"400 {claude_body(message)}", "time": 1789000000}),
    "JSON in JSON in JSON": lambda message: json.dumps({"log": json.dumps({"body": claude_body(message)}), "stream": "stderr"}),
    "line of a log": lambda message: f"2026-09-01T10:00:00.123Z \x1b[31mERROR\x1b[0m [api] status=400 body={json.dumps(envelope(message))}",
    "escaped, cut off": lambda message: "ERROR request failed: " + json.dumps(claude_body(message))[1:-20],
    "JSON of .NET, cut off": lambda message: re.sub(r"[`'\"<>&]", lambda sign: f"\\u{ord(sign[0]):04X}", claude_body(message))[:-10],
    "source of a page": lambda message: html.escape(f"<pre>{envelope(message)}</pre>"),
    "narrow terminal": lambda message: "\n".join(textwrap.wrap(f"Error: {message}", 40, break_long_words=False)),
    "other quotes": lambda message: re.sub("[`'\"]", "'", message),
    "no quotes": lambda message: re.sub("[`'\"]", "", message),
}


def said_by_rules() -> Iterator[tuple[str, Rule]]:
    for provider in PROVIDERS:
        yield from ((provider.name, rule) for rule in provider.all_rules if rule.says)


@pytest.mark.parametrize("wrap", WRAPPED)
def test_every_sentence_of_a_rule_is_recognised(wrap: str) -> None:
    for provider, rule in said_by_rules():
        error = read_error(WRAPPED[wrap](filled(rule.says)))
        assert (provider, rule.id) in {(each.provider, each.rule) for each in error.known}, rule.says


def test_numbers_of_a_sentence_may_be_others() -> None:
    for provider, rule in said_by_rules():
        error = read_error(re.sub(r"\d+", "123", filled(rule.says)))
        assert (provider, rule.id) in {(each.provider, each.rule) for each in error.known}, rule.says


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda wording: wording.says[:40])
def test_further_wordings_are_recognised_and_lead_to_rules(wording: Wording) -> None:
    for wrap in WRAPPED.values():
        error = read_error(wrap(filled(wording.says)))
        assert {each.rule for each in error.known} & set(wording.rules)


def test_ids_are_read_where_a_sentence_has_them() -> None:
    assert read_error(envelope("No tool output found for custom tool call fc-Zq81:2.")).ids == ("fc-Zq81:2",)
    pasted = "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: a, call|9. Each `tool_use` block"
    assert read_error(WRAPPED["LiteLLM"](pasted)).ids == ("a", "call|9")


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("messages.3.content.1: new", (3, 1)), ("messages[3].content[1]: new", (3, 1)), ("'messages.[3].role' new", (3, None)),
        ("Invalid 'input[3].content[1].text'", (3, 1)), ("Request.contents[3].parts[1].x: new", (3, 1)),
        ('{"error": {"message": "New.", "param": "input[3]"}}', (3, None)),
        ('{"detail": [{"loc": ["body", "messages", 3, "content"]}]}', (3, None)),
        ("function call in the 4. content block is new", (3, None)), ("message index 3", (3, None)),
    ],
)  # fmt: skip
def test_places_as_providers_count_them(place: str, expected: tuple[int, int | None]) -> None:
    for wrap in (str, WRAPPED["line of a log"]):
        error = read_error(wrap(place))
        assert (error.message, error.part) == expected


def test_other_text_is_no_error() -> None:
    for text in ("", "The user must look at each message and answer.", "x" * 5_000, "{" * 900, "tool_use", "messages.3"):
        assert not read_error(text).known
    assert len(known_sentences()) > 200


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_sentence_of_a_problem_leads_to_it_and_its_fix(case: ErrorCase) -> None:
    """Whatever the providers say of the chain, pasted with the index of its message: the answer is that problem."""
    (chain,) = load_file(case.content, case.format)
    provider = next(each for each in PROVIDERS if each.name == case.provider)
    rules = {rule.id: rule for rule in provider.all_rules}
    located = locate_error(read_error(case.pasted), chain.messages, chain.format)
    for problem in located.problems:
        for wrap in WRAPPED.values():
            error = read_error(wrap(filled(rules[problem.rule].says, id="no_id")))
            found = locate_error(error, chain.messages, chain.format)
            assert problem.path in [each.path for each in found.problems if each.rule == problem.rule]
            assert set(problem.fixes) <= {fix for each in found.problems for fix in each.fixes}
