"""The facts about a request that a document records beside its messages, as far as rules need them: the model, the
tools, the members."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from chainviz.core.chain.problems import Problem
from chainviz.core.chain.surroundings import Surroundings
from chainviz.core.chain.tree import Section
from chainviz.core.dialects.values import string_of
from chainviz.core.providers.server_blocks import marked_beside
from chainviz.core.usage.document_usage import declared_tools
from chainviz.core.usage.recorded import find_api, find_model

STORED = ("conversation", "previous_response_id")
"""Members of a request that name earlier messages which the API stores."""
REFERENCE = "item_reference"
"""An item that refers to an item which the API stores."""
_REFERENCE = re.compile(rf'"type"\s*:\s*"{REFERENCE}"')


@dataclass(frozen=True, slots=True)
class Request:
    model: str = ""
    """The recorded model; "" if none is recorded, as in a bare list of messages."""
    members: tuple[str, ...] = ()
    """Names of the members beside the messages whose value is not null, in alphabetical order."""
    tools: tuple[str, ...] | None = None
    """Names of the tools that the request defines, in alphabetical order; None if it has no definitions."""
    marked: int = 0
    """The number of blocks with cache_control beside the messages."""
    is_answer: bool = False
    """True if the document is one answer of an API and not a request."""
    ends_with_answer: bool = False
    """True if the last message is an answer of the API that was not sent back to it."""

    thinking: str = ""
    """The `type` of the member `thinking`, such as `disabled`; "" if the request does not say."""
    stored: str = ""
    """Shows that the API stores messages of the conversation: a member of STORED, or REFERENCE; "" if nothing does."""
    api: str = ""
    """The recorded name or address of the API; "" if none is recorded."""

    def stores_call(self, section: Section[Any], place: tuple[int, int | None]) -> bool:
        """Return True if a call before this pair may be among the messages that the API stores: the pair has no AI
        message, and it begins the chain or stands after a reference. `place`: the number of the section in the chain,
        and of the pair."""
        number, pair = place
        if not self.stored or not pair or section.body[pair - 1].ai is not None:
            return False
        return self.stored == REFERENCE or (number == 1 and pair == 1)

    @property
    def is_known(self) -> bool:
        """True if the document is a request or another object around the messages, not a bare list."""
        return bool(self.members)


NO_REQUEST = Request()


def request_of(surroundings: Surroundings) -> Request:
    """Read what surrounds the messages of a document."""
    holders = list(surroundings.holders()) or [{}]
    members = tuple(sorted(key for key, value in holders[0].items() if value is not None))
    names = tuple(sorted({tool["name"] for tool in declared_tools(holders[0])}))
    tools = names if names or {"tools", "toolConfig"} & set(members) else None
    model = next(filter(None, map(find_model, holders)), "")
    texts = surroundings.document_texts()
    ends = surroundings.ends_single or any(map(_has_response, holders)) or bool(RUN_MEMBERS & set(members))
    thinking = string_of(holders[0].get("thinking"), "type")
    api = next(filter(None, map(find_api, holders)), "")
    return Request(model, members, tools, marked_beside(texts), surroundings.is_single, ends, thinking, _stored(members, texts), api)


def _has_response(holder: dict[str, Any]) -> bool:
    """Return True if an object is or contains an answer of OpenAI's Responses API, whose items are in a list."""
    return any(isinstance(each, dict) and each.get("object") == "response" for each in (holder, *holder.values()))


def _stored(members: Iterable[str], texts: Iterable[str]) -> str:
    named = next((key for key in STORED if key in members), "")
    has_references = any(REFERENCE in text and _REFERENCE.search(text) for text in texts)
    return REFERENCE if has_references else named


def without_stored(problems: Iterable[Problem], sections: Iterable[tuple[int, Section[Any]]], request: Request) -> Iterator[Problem]:
    """Yield the problems of a tree, without those that end because the API stores earlier messages. `sections` contains
    each section with its number."""
    numbered = dict(sections) if request.stored else {}
    for problem in problems:
        section = numbered.get(problem.path.section)
        if section is None:
            yield problem
        elif problem.rule == "orphan-result" and request.stores_call(section, (problem.path.section, problem.path.pair)):
            continue
        elif problem.rule != "double-human" or request.stored != REFERENCE:
            yield problem


def to_list(request: Request) -> list[Any]:
    """Return the request as values that the store can pack."""
    return list(asdict(request).values())


def from_list(values: list[Any]) -> Request:
    """Return the request that `to_list` made these values of."""
    model, members, tools, *others = values
    return Request(model, tuple(members), None if tools is None else tuple(tools), *others)


# Frameworks record more than they send: tau2 flat calls and times, mini-SWE-agent what it did with an answer, LiteLLM null
# members.


RUN_MEMBERS = frozenset(("trajectory_format", "termination_reason", "reward_info"))
"""Members beside the messages that only the record of a run has (mini-SWE-agent, tau2)."""
_TAU2 = "turn_idx"
_LITELLM = "provider_specific_fields"


def as_sent(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return the message in the form that is sent; None for one that is not, such as a call of the simulated user."""
    if _TAU2 in value:
        return _from_tau2(value)
    if isinstance(value.get("extra"), dict) or _LITELLM in value:
        return _from_litellm(value)
    return value


def _from_litellm(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return a message of LiteLLM without null members and the index of a call. The mark with which mini-SWE-agent ends
    a run is not sent."""
    kept = {key: each for key, each in value.items() if key not in ("extra", _LITELLM) and (each is not None or key == "content")}
    if isinstance(calls := kept.get("tool_calls"), list):
        kept["tool_calls"] = [_without_index(call) for call in calls]
    return None if kept.get("role") == "exit" else kept


def _without_index(call: Any) -> Any:
    return {key: each for key, each in call.items() if key != "index"} if isinstance(call, dict) else call


def _from_tau2(value: dict[str, Any]) -> dict[str, Any] | None:
    role = value.get("role")
    if role == "tool":
        is_ours = value.get("requestor") != "user"
        return {"role": role, "tool_call_id": value.get("id"), "content": value.get("content")} if is_ours else None
    calls = value.get("tool_calls")
    if role == "user" and calls:
        return None
    kept = {"role": role, "content": value.get("content")}
    return kept | {"tool_calls": [_nested(call) for call in calls]} if isinstance(calls, list) and calls else kept


def _nested(call: Any) -> Any:
    if not isinstance(call, dict) or "function" in call:
        return call
    function = {"name": call.get("name"), "arguments": json.dumps(call.get("arguments"))}
    return {"id": call.get("id"), "type": "function", "function": function}
