"""Choose the rule that a finding breaks, if that depends on more than the finding; rules about images."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass

from chainviz.core.chain.messages import SYSTEM, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.pictures import COMMON, file_of, pictures_in
from chainviz.core.providers.contract import Broken, Choice, Excerpt, SectionCheck
from chainviz.core.providers.rules import Rule


def id_unlike(pattern: str, rule: Rule) -> Choice:
    """Return the rule, for a call whose id does not match the whole pattern."""
    wanted = re.compile(pattern)

    def chosen(excerpt: Excerpt, problem: Problem) -> Rule | None:
        part = _part(excerpt, problem)
        return rule if isinstance(part, ToolCall) and not wanted.fullmatch(part.id) else None

    return chosen


def name_unlike(pattern: str, rule: Rule) -> Choice:
    """Return the rule, for a call of a tool whose name does not match the whole pattern."""
    wanted = re.compile(pattern)

    def chosen(excerpt: Excerpt, problem: Problem) -> Rule | None:
        part = _part(excerpt, problem)
        return rule if isinstance(part, ToolCall) and not wanted.fullmatch(part.name) else None

    return chosen


def where_model(pattern: str, error: Rule, other: Rule | None) -> Choice:
    """Return the rule `error` if the recorded model is one of those that refuse it, else the other rule."""
    wanted = re.compile(pattern, re.IGNORECASE)
    return lambda excerpt, problem: error if wanted.search(excerpt.request.model) else other


def where_claude(unknown: Rule, claude: Rule | None, other: Rule | None) -> Choice:
    """Return the rule for models of Claude, for others, or for a request that records no model."""

    def chosen(excerpt: Excerpt, problem: Problem) -> Rule | None:
        model = excerpt.request.model.lower()
        return unknown if not model else claude if "claude" in model else other

    return chosen


def where_unnamed(unnamed: Rule, rule: Rule) -> Choice:
    """Return the rule `unnamed` for a call whose tool has an empty name, else the rule."""

    def chosen(excerpt: Excerpt, problem: Problem) -> Rule:
        part = _part(excerpt, problem)
        return unnamed if isinstance(part, ToolCall) and not part.name else rule

    return chosen


def where_misnamed(misnamed: Rule | None, rule: Choice) -> Choice:
    """Return the rule `misnamed` for a call, or a result, whose result names another function; else the other rule."""

    def chosen(excerpt: Excerpt, problem: Problem) -> Rule | None:
        part = _part(excerpt, problem)
        id = part.id if isinstance(part, ToolCall) else part.call_id if isinstance(part, ToolResult) else ""
        if id in excerpt.misnamed(problem.path.pair or 1):
            return misnamed
        return rule if isinstance(rule, Rule) else rule(excerpt, problem)

    return chosen


def where_role(role: str, rule: Rule) -> Choice:
    """Return the rule, where the message has the role."""
    return lambda excerpt, problem: rule if excerpt.message(problem).role == role else None


def where_calls(rule: Rule) -> Choice:
    """Return the rule, where the message calls tools."""
    return lambda excerpt, problem: rule if excerpt.message(problem).calls else None


def unless_elsewhere(rule: Rule) -> Callable[[Excerpt, Problem], Rule | None]:
    """Return the rule, unless the chain has a call and then a result with this id."""

    def chosen(excerpt: Excerpt, problem: Problem) -> Rule | None:
        part = _part(excerpt, problem)
        id = part.id if isinstance(part, ToolCall) else part.call_id if isinstance(part, ToolResult) else ""
        return None if id in excerpt.paired else rule

    return chosen


def unless_joined(rule: Choice) -> Choice:
    """Return the rule, unless the result directly follows its call once consecutive AI messages are joined."""

    def chosen(excerpt: Excerpt, problem: Problem) -> Rule | None:
        part = _part(excerpt, problem)
        id = part.id if isinstance(part, ToolCall) else part.call_id if isinstance(part, ToolResult) else ""
        if id and id in excerpt.joined:
            return None
        return rule if isinstance(rule, Rule) else rule(excerpt, problem)

    return chosen


def _part(excerpt: Excerpt, problem: Problem) -> object:
    return None if problem.part is None else excerpt.message(problem).parts[problem.part]


NOTE = ("image-to-text",)
NAME_OR_NOTE = ("respell-media-type", "image-to-text")


@dataclass(frozen=True, slots=True)
class PictureRules:
    """An API's rules about the files of pictures."""

    broken: Rule
    type: Rule
    mislabelled: Rule
    empty: Rule
    types: Container[str] = COMMON
    """Media types that the API accepts."""

    @property
    def choices(self) -> dict[str, Choice]:
        """The rule of each finding."""
        return {"image-broken": self.broken, "image-odd-type": self._type, "image-mislabelled": self.mislabelled, "image-empty": self.empty}

    def _type(self, excerpt: Excerpt, problem: Problem) -> Rule | None:
        found = map(file_of, pictures_in(excerpt.message(problem).parts[problem.part or 0]))
        return self.type if any(each is not None and not each.fault and each.type not in self.types for each in found) else None


_OPENAI = "platform.openai.com/docs/guides/images-vision"
_FORMATS = "You uploaded an unsupported image. Please make sure your image has of one the following formats: {types}."
_BROKEN = (
    "The image data you provided does not represent a valid image. Please check your input and try again with one of the "
    "supported image formats: {types}."
)


def openai_pictures(make: Callable[..., Rule]) -> PictureRules:
    """Return the rules of OpenAI's APIs. `make`: makes a rule of one of them."""
    checked = "2026-11-27"
    return PictureRules(
        broken=make("image-broken", "error", _BROKEN, _OPENAI, NOTE, checked=checked),
        type=make(
            "image-type", "error", _FORMATS, "github.com/marketing-factory/ai-filemetadata/issues/18", NOTE, checked=checked
        ),
        mislabelled=make(
            "image-mislabelled", "warning", _FORMATS, _OPENAI, NAME_OR_NOTE, checked=checked,
            note="where a server trusts the named type",
        ),
        empty=make("image-empty", "error", _BROKEN, _OPENAI, NOTE, checked=checked),
    )  # fmt: skip


def system_only(rule: Rule) -> SectionCheck:
    """Return a check of the chain's first section, which breaks this rule."""

    def check(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
        section = excerpt.section
        if excerpt.is_last and not section.body and all(message.role == SYSTEM for message in section.header):
            yield Path(excerpt.number, 0, 0), excerpt.first_message, (rule, None, "is a system message without any message after it")

    return check
