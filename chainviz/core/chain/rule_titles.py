"""Titles of the rules of a chain's structure and contents, and short flags for rows of the explorer."""

from __future__ import annotations

from collections.abc import Mapping

RULE_TITLES: Mapping[str, str] = {
    "bad-arguments": "Arguments of a tool call are not valid JSON",
    "double-human": "Two human messages follow one another",
    "duplicate-result": "A tool call has more than one result",
    "empty-arguments": "A tool call has empty arguments",
    "empty-content": "A message has no content",
    "first-message": "The chain begins with an AI message",
    "mid-system": "A system message is in the middle of the chain",
    "missing-human": "A section begins without a human message",
    "not-fully-read": "The file has records that chainviz does not know",
    "orphan-result": "A tool result has no call before it",
    "pending-call": "A tool call has no result",
    "shared-call-id": "Several tool calls have the same id",
    "summary-results": "A summary has results of its own",
    "terminal-call": "The last tool call has no result",
    "unknown-role": "A message has an unknown role",
    "unmatched-result": "A tool result belongs to no call of its pair",
}
_FLAGS = {
    "pending-call": "call without a result",
    "terminal-call": "last call is open",
    "orphan-result": "result without a call",
    "unmatched-result": "result without a call",
    "mid-system": "system message in the middle",
    "double-human": "two human messages",
    "first-message": "begins with AI",
    "missing-human": "no human message before it",
}


def rule_flag(rule: str) -> str:
    """Return a few words for a rule, short enough for a row of the explorer. The default is the rule's id."""
    return _FLAGS.get(rule, rule.replace("-", " "))


def rule_title(rule: str) -> str:
    """Return the title of a rule. The default is the rule's id."""
    return RULE_TITLES.get(rule, rule.replace("-", " "))
