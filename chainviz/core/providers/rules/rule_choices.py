"""How a provider chooses the rule that a finding breaks, where that depends on more than the finding."""

from __future__ import annotations

import re
from collections.abc import Callable

from chainviz.core.chain.messages import ToolCall, ToolResult
from chainviz.core.chain.problems import Problem
from chainviz.core.providers.contract import Choice, Excerpt
from chainviz.core.providers.rules.rule import Rule


def id_unlike(pattern: str, rule: Rule) -> Choice:
    """The rule, for a call whose id does not match the whole pattern."""
    wanted = re.compile(pattern)

    def chosen(excerpt: Excerpt, problem: Problem) -> Rule | None:
        part = _part(excerpt, problem)
        return rule if isinstance(part, ToolCall) and not wanted.fullmatch(part.id) else None

    return chosen


def name_unlike(pattern: str, rule: Rule) -> Choice:
    """The rule, for a call of a tool whose name does not match the whole pattern."""
    wanted = re.compile(pattern)

    def chosen(excerpt: Excerpt, problem: Problem) -> Rule | None:
        part = _part(excerpt, problem)
        return rule if isinstance(part, ToolCall) and not wanted.fullmatch(part.name) else None

    return chosen


def where_model(pattern: str, error: Rule, other: Rule | None) -> Choice:
    """`error`, where the recorded model is one of those that refuse it; else the other rule."""
    wanted = re.compile(pattern, re.IGNORECASE)
    return lambda excerpt, problem: error if wanted.search(excerpt.request.model) else other


def where_unnamed(unnamed: Rule, rule: Rule) -> Choice:
    """`unnamed`, for a call whose tool has an empty name; else the rule."""

    def chosen(excerpt: Excerpt, problem: Problem) -> Rule:
        part = _part(excerpt, problem)
        return unnamed if isinstance(part, ToolCall) and not part.name else rule

    return chosen


def where_role(role: str, rule: Rule) -> Choice:
    """The rule, where the message has the role."""
    return lambda excerpt, problem: rule if excerpt.message(problem).role == role else None


def where_calls(rule: Rule) -> Choice:
    """The rule, where the message calls tools."""
    return lambda excerpt, problem: rule if excerpt.message(problem).calls else None


def unless_elsewhere(rule: Rule) -> Callable[[Excerpt, Problem], Rule | None]:
    """The rule, unless the chain has a call and then a result with this id."""

    def chosen(excerpt: Excerpt, problem: Problem) -> Rule | None:
        part = _part(excerpt, problem)
        id = part.id if isinstance(part, ToolCall) else part.call_id if isinstance(part, ToolResult) else ""
        return None if id in excerpt.paired else rule

    return chosen


def unless_joined(rule: Choice) -> Choice:
    """The rule, unless the result and its call are neighbours once consecutive messages of the assistant are joined."""

    def chosen(excerpt: Excerpt, problem: Problem) -> Rule | None:
        part = _part(excerpt, problem)
        id = part.id if isinstance(part, ToolCall) else part.call_id if isinstance(part, ToolResult) else ""
        if id and id in excerpt.joined:
            return None
        return rule if isinstance(rule, Rule) else rule(excerpt, problem)

    return chosen


def _part(excerpt: Excerpt, problem: Problem) -> object:
    return None if problem.part is None else excerpt.message(problem).parts[problem.part]
