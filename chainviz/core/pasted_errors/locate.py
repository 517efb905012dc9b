"""Locate in a chain the error that an API's message reports, and find its fix."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from chainviz.core.chain.messages import SYSTEM, Binary, Image, Message, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import SEVERITIES, Problem, Severity
from chainviz.core.chain.reasoning import is_signed, thinks
from chainviz.core.chain.tree import ChainAST, message_paths, parse
from chainviz.core.formats.vendors import PROVIDERS, SERVERS
from chainviz.core.pasted_errors.message import ErrorMessage, known_sentences
from chainviz.core.providers.check import check_all
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.request import NO_REQUEST, Request

_RESULTS = (
    "result-missing", "result-missing-at-end", "results-split", "result-without-call", "result-after-text", "result-repeated",
    "result-count", "call-id-shared", "call-id-reused", "call-order",
)  # fmt: skip


def _nothing(message: Message) -> bool:
    return False


def _has_media(message: Message) -> bool:
    return any(isinstance(part, Image | Binary) or (isinstance(part, ToolResult) and part.media) for part in message.parts)


@dataclass(frozen=True, slots=True)
class Topic:
    words: re.Pattern[str]
    """Words of such an error."""
    rules: tuple[str, ...]
    """Ids of the rules about it, the likeliest first."""
    holds: Callable[[Message], bool] = _nothing
    """Returns True for a message that may be the cause although it breaks no rule."""
    fix: str = ""
    """The fix of such a message; "" if there is none."""


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


TOPICS: tuple[Topic, ...] = (
    Topic(
        _words(
            r"images?\b|image_url|picture|vision|mime.?type|media.type|\bpdf|document|multimodal|inline.?data|downloading|"
            r"(?:download|fetch|retrieve)\b.{0,40}\b(?:file|url|content)"
        ),
        ("image-broken", "image-mislabelled", "image-type", "image-empty", "image-too-large", "image-address", "result-media", "part-role",
         "part-type", "document-without-text", "parts-too-many"),
        _has_media, "media-to-text",
    ),
    Topic(_words(r"signature|encrypted"), ("thinking-unsigned", "thinking-signature-cut", "thinking-emptied"), is_signed, "drop-signed"),
    Topic(
        _words(r"reasoning|thinking|thought"),
        ("reasoning-missing", "thinking-missing", "thinking-enabled", "thinking-last-block", "thinking-final", "reasoning-without-item"),
        thinks, "drop-reasoning",
    ),
    Topic(
        _words(
            r"argument|item pairs|mapping|'items'|expecting (?:value|property name|',' delimiter)|extra data: line|"
            r"\bjson\b.{0,40}(?:pars|decod|invalid|object)|"
            r"(?:pars|decod|invalid|convert)\w*.{0,60}\b(?:json|tool.calls?)\b"
        ),
        ("arguments-no-json", "arguments-no-object", "arguments-type", "arguments-missing", "tool-name", "tool-name-empty",
         "text-surrogate"),
    ),
    Topic(
        _words(r"tool.?(?:call|result|response|output|use|message|invocation)|tool_call_id|function.?(?:call|response|output)|unprocessed"),
        (*_RESULTS, "tool-calls-empty", "call-by-user", "member-missing", "tools-undefined"),
    ),
    Topic(_words(r"\bids?\b.{0,40}(?:match|pattern|long|invalid|character)"), ("call-id-pattern", "call-id-too-long", "call-id-form")),
    Topic(_words(r"system"), ("system-in-messages", "system-place", "system-first"), lambda message: message.role == SYSTEM),
    Topic(
        _words(r"alternat|consecutive|multi.?turn|first message|last message|\broles?\b|user (?:message|query)|prefill|end with"),
        ("roles-alternate", "assistants-alternate", "first-role", "last-role", "call-order", "role-unknown", "messages-missing",
         "system-in-messages"),
        lambda message: message.role == SYSTEM,
    ),
    Topic(
        _words(r"empty|blank|\bnull\b|\bnone\b|<nil>|non-?empty|whitespace|\bcontent\b|required property|too short"),
        ("content-missing", "text-empty", "text-blank", "content-empty", "content-type", "tool-calls-empty", "call-without-text",
         "trailing-space", "part-empty", "member-missing", "field-type"),
    ),
)  # fmt: skip
"""Special topics come first, since an error about an image may also name a tool's result."""


def topics_of(text: str) -> tuple[Topic, ...]:
    return tuple(topic for topic in TOPICS if topic.words.search(text))


_BESIDE = {
    _words(
        r"prompt is too long|context.{0,12}(?:length|window|size)|input (?:is|was) too long|too many (?:input )?tokens|"
        r"token count.{0,40}exceed|reduce the length|request_too_large|exceed.{0,40}tokens allowed"
    ): "It is about the length of the request: compact, summarize or mask the chain to make it shorter.",
    _words(
        r"rate.?limit|overloaded|quota|too many requests|tokens per min|billing|credit balance|insufficient.{0,8}(?:quota|balance|funds)|"
        r"api.?key|authenticat|unauthori[sz]ed|permission_error|service.?unavailable|internal server error"
    ): "It is about the account or the load of the API, not about the chain: the same request may be accepted later.",
    _words(
        r"\btools?[.\[]\d|'tools'|\btools: |tool_choice|toolConfig\.tools|toolChoice|function_declarations|input_schema|json.?schema|"
        r"invalid schema for function|function parameters|tool names must be unique|tool type\b"
    ): "It is about the tools that the request defines, not about a message of the chain.",
    _words(
        r"max_(?:completion_|output_)?tokens|temperature|top_[pk]\b|budget_tokens|reasoning[._]?effort|response_format|text\.format|"
        r"stop_sequences|thinking\.type|thinking may not be enabled|parallel_tool_calls|model.{0,40}(?:not found|does not exist)"
    ): "It is about a setting of the request, not about a message of the chain.",
}
"""What is said about an error that no message of a chain causes. Limits come first, since their errors name settings too."""


def beside_messages(text: str) -> str:
    """Return a sentence if the error is about the request beside its messages, its length or the API, else ""."""
    return next((says for words, says in _BESIDE.items() if words.search(text)), "")


NEAR = 2
"""The greatest distance in messages between an id and a problem that is about it."""
FEW = 4
"""A word that occurs in more messages is not an id."""


@dataclass(frozen=True, slots=True)
class Places:
    """The messages of a chain that an error names, by their indexes."""

    by_id: frozenset[int] = frozenset()
    by_index: frozenset[int] = frozenset()
    missing: tuple[str, ...] = ()
    """Ids in the error that the chain does not have."""
    ids: tuple[str, ...] = ()
    """Ids in the error that the chain has."""

    @property
    def best(self) -> frozenset[int]:
        """The messages that an id names, else those at the index, which may count the messages of an earlier request."""
        return self.by_id or self.by_index


@dataclass(frozen=True, slots=True)
class LocatedError:
    provider: Provider | None
    """The provider of the message, or None if the wording is unknown."""
    problems: tuple[Problem, ...]
    """The problems that the provider's rules find there, the best match first; empty if the chain has no such problem
    (any more)."""
    path: Path | None
    """The path of the first problem, else of the message or the id that the error names."""

    fixes: tuple[str, ...] = ()
    """Names of the fixes, the smallest first."""
    places: Places = Places()
    is_guess: bool = False
    """True if no API's sentence fits the message, and this is a problem of its topic."""


def locate_error(error: ErrorMessage, messages: Sequence[Message], format: str = "", request: Request = NO_REQUEST) -> LocatedError:
    """Find the problems that the error is about, by the rules with its sentence. The id that the error names decides, then the index.

    `format` and `request` are those of the chain, as in `check_all`.
    """
    tree = parse(messages)
    places = _places(error, messages)
    asked = providers_of(error, format)
    said = [(provider, problem) for provider, problem in check_all(asked, tree, format, request) if problem.rule in error.rules]
    for provider in asked:
        best = ranked((problem for each, problem in said if each is provider), error, places)
        if best:
            return LocatedError(provider, best, best[0].path, best[0].fixes, places)
    path = list(message_paths(tree))[min(places.best)] if places.best else None
    plain = LocatedError(asked[0] if asked else None, (), path, unseen_fixes(error, places), places)
    if plain.fixes or (error.known and not places.best):
        return plain
    guessed = _guessed(error, tree, format, request, places)
    if guessed is None or not error.known:
        return guessed or plain
    first = next(iter(guessed.problems), None)
    is_said = guessed.provider is not None and (guessed.provider.is_of(format) or guessed.provider.name in error.providers)
    is_there = first is not None and first.severity != "info" and first.message in places.best and is_said
    return guessed if is_there else plain


def _guessed(error: ErrorMessage, tree: ChainAST[Message], format: str, request: Request, places: Places) -> LocatedError | None:
    """Locate an error of an unknown wording. A problem at the place that the error names comes first: one of its topics, or what the API of
    the chain refuses there. Else it is the nearest problem of a topic, or a message that has what the topic names."""
    topics = topics_of(error.text) if places.best or not beside_messages(error.text) else ()
    messages = [message for section in tree.sections for message in section.messages]
    asked = sorted((*PROVIDERS, *SERVERS), key=lambda provider: (not provider.is_of(format), not provider.reads(format)))
    said = list(check_all(asked, tree, format, request)) if topics or places.best else []
    here = [each for each in said if each[1].message in places.best]
    for topic in topics:
        if own := _of_topic(topic, here, format):
            return _nearest(topic, own, messages, places)
    if refused := [each for each in here if each[0].is_of(format) and each[1].severity == "error"]:
        return _nearest(None, refused, messages, places)
    for topic in topics:
        if own := _of_topic(topic, said, format):
            return _nearest(topic, own, messages, places)
        held = [index for index, message in enumerate(messages) if topic.holds(message)]
        if held:
            near = min(held, key=lambda index: min((abs(index - place) for place in places.best), default=0))
            return LocatedError(None, (), list(message_paths(tree))[near], (topic.fix,) if topic.fix else (), places, is_guess=True)
    return None


_Said = list[tuple[Provider, Problem]]
"""Problems, each with the provider that has the rule; the likeliest providers come first."""


def _of_topic(topic: Topic, said: _Said, format: str) -> _Said:
    return [each for each in said if each[1].rule in topic.rules and each[1].severity in _refusals(each[0], format)]


def _nearest(topic: Topic | None, said: _Said, messages: Sequence[Message], places: Places) -> LocatedError:
    """Return the problem nearest to the named messages; of several, the most severe."""
    rank = {severity: number for number, severity in enumerate(SEVERITIES)}
    provider, first = min(said, key=lambda each: (_distance(each[1], places), rank[each[1].severity]))
    rest = (problem for each, problem in said if each is provider and problem is not first)
    is_held = topic is not None and bool(topic.fix) and topic.holds(messages[first.message])
    fixes = first.fixes or ((topic.fix,) if topic is not None and is_held else ())
    return LocatedError(provider, (first, *rest), first.path, fixes, places, is_guess=True)


def _refusals(provider: Provider, format: str) -> tuple[Severity, ...]:
    """Return the severities of problems that may be the cause of an error. What the API of the format accepts, another model may refuse."""
    return ("error", "warning", "info") if provider.is_of(format) else ("error", "warning")


def _distance(problem: Problem, places: Places) -> int:
    return min((abs(problem.message - place) for place in places.best), default=0)


def providers_of(error: ErrorMessage, format: str) -> tuple[Provider, ...]:
    """Return the providers with this wording; those whose API uses the chain's format come first."""
    known = {provider.name: provider for provider in (*PROVIDERS, *SERVERS)}
    return tuple(sorted((known[name] for name in error.providers), key=lambda provider: not provider.is_of(format)))


def ranked(problems: Iterable[Problem], error: ErrorMessage, places: Places) -> tuple[Problem, ...]:
    """Sort problems: first those that name an id of the error, then by distance to a message that it names, then by likeliest rule.

    Returns () if the message with the id has no such problem.
    """
    rules = error.rules

    def distance(problem: Problem) -> tuple[bool, int, int]:
        is_unnamed = not any(f"“{id}”" in problem.text for id in (*error.ids, *places.ids))
        return is_unnamed, _distance(problem, places), rules.index(problem.rule)

    found = sorted(problems, key=distance)
    if not found or not places.best:
        return tuple(found)
    is_unnamed, far, _ = distance(found[0])
    is_elsewhere = is_unnamed and far > (NEAR if places.by_id else 0)
    return () if is_elsewhere and (places.by_id or error.unseen) else tuple(found)


def unseen_fixes(error: ErrorMessage, places: Places) -> tuple[str, ...]:
    """Return fixes for the places that the error names if no rule can find the problem there."""
    return error.unseen if places.best else ()


def _places(error: ErrorMessage, messages: Sequence[Message]) -> Places:
    found = {id: [index for index, message in enumerate(messages) if names(message, id)] for id in (*error.ids, *error.looks_like_ids)}
    by_index: list[int] = []
    if error.message is not None:
        by_index = sent_together(error.message, (each.source[0].ordinal if each.source else None for each in messages))
    return places_of(error, found, by_index)


def places_of(error: ErrorMessage, found: dict[str, list[int]], by_index: Collection[int]) -> Places:
    """Return the messages that an error names. `found` has the messages with each id, or with what looks like one; `by_index` those at
    the index in the error."""
    known = {id: where for id, where in found.items() if where and (id in error.ids or len(where) <= FEW)}
    ids = {id for id in known if id in error.ids} or known.keys()
    by_id = frozenset(index for id in ids for index in known[id])
    missing = tuple(id for id in error.ids if id not in known)
    return Places(by_id, frozenset(by_index), missing, tuple(id for id in known if id in ids))


def names(message: Message, id: str) -> bool:
    """Return True if a call, a result or an item of a message has this id."""
    if any(ref.id == id for ref in (*message.calls, *message.results)):
        return True
    return any(f'"{id}"' in fragment.text for fragment in message.source)


def sent_together(place: int, ordinals: Iterable[int | None]) -> list[int]:
    """Return the indexes of the messages that the request sends as its message number `place`; empty if it has no such message.

    One unit of a document can be several messages of the chain. `ordinals` are the numbers of the units, one a message: None for a new
    message, negative for one that is not sent.
    """
    group: list[int] = []
    number, last = -1, object()
    for index, ordinal in enumerate(ordinals):
        if ordinal is not None and ordinal < 0:
            continue
        if ordinal is None or ordinal != last:
            number += 1
        last = ordinal
        if number > place:
            break
        if number == place:
            group.append(index)
    return group


NAMED = 4
"""The most ids that are listed."""


def what_was_tried(error: ErrorMessage, found: LocatedError) -> Iterator[str]:
    """Yield sentences on what the message was compared with, and what it names."""
    if not found.path and (beside := beside_messages(error.text)):
        yield beside
    if not error.known:
        count = len({each.sentence.says for each in known_sentences()})
        similar = " What it is about is found by its words." if found.is_guess else ""
        yield f"None of the {count:,} known sentences of APIs fits the message.{similar}"
    elif found.provider is not None and (found.is_guess or not found.problems):
        yield f"{found.provider.label} says this of {', '.join(error.rules[:NAMED])}: the chain has no such problem there."
    places = found.places
    if places.ids:
        yield f"The message names {_listed(places.ids)}, which the chain has."
    if places.missing:
        yield f"The message names {_listed(places.missing)}, which the chain does not have."
    if error.message is not None and not places.by_index:
        yield f"The message names number {error.message:,} of the request, counted from 0: the chain has fewer messages."
    if not error.ids and error.message is None and not places.ids:
        yield "The message names no id and no place."


def _listed(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return f"the id{'s' if len(ids) > 1 else ''} {', '.join(f'“{id[:60]}”' for id in ids[:NAMED])}{more}"
