"""The contract of a provider: rules as values, each with the API's own words and its source, judged offline.

Most rules name a finding: a problem of the tree, or of a message's contents (`findings`), for which a provider has its
own words. The rest are small functions over a section or over the JSON that would be sent (`wire`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from chainviz.core.chain.messages import Binary, Image, Message, Opaque, Role, Thinking, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem, place_in_words
from chainviz.core.chain.surroundings import Unread, describe_unread
from chainviz.core.chain.tree import Section, misnamed_results, section_paths
from chainviz.core.providers import server_blocks
from chainviz.core.providers.request import NO_REQUEST, Request
from chainviz.core.providers.rules import ALL_MODELS, NO_MARK, Mark, Rule, SectionRule, join_marks, marked_part, marks_of

NOT_UNDERSTOOD = Rule("not-understood", "unchecked", "", "", models=ALL_MODELS, since="", checked="")
UNKNOWN_MEMBER = replace(NOT_UNDERSTOOD, fixes=("rewrite-message",))
"""The same of a member, which can be left out."""

Broken = tuple[Rule, int | None, str]
"""A broken rule, the index of the part that breaks it, and what the message does."""


@dataclass(frozen=True, slots=True)
class CallIds:
    """The ids of tool calls that an API takes (rules in the provider's file), and how it spells its own."""

    template: str = "call_{r:24:x}"
    """The template for chain/tool_ids.py."""
    pattern: str = r"[^\x00]{1,64}"
    """The pattern that an id must match completely."""
    unique: bool = False
    """True if the API refuses an id that an earlier call of the request has."""


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call with its place, for rules that look at the whole request."""

    id: str
    path: Path
    message: int
    part: int


@dataclass(frozen=True, slots=True)
class WireFault:
    """Something in the JSON of a message that an API may refuse."""

    name: str
    """The name, for providers that share a form but have their own rules; "" if `rule` contains it."""
    part: int | None
    what: str
    """What the message does, for a sentence."""
    detail: str = ""
    """The field or the type that the problem is about."""
    rule: Rule | None = None


WireForm = Callable[[Message], Iterable[WireFault]]
"""Checks the JSON of a message. Providers with the same form share the function, so that it runs once."""


@dataclass(frozen=True)
class Excerpt:
    """A section and what a provider has to know of the chain around it."""

    section: Section[Message]
    number: int
    """The number of the section in the chain, from 1."""
    first_message: int
    """The index of its first message in the chain."""
    before: Role
    """The role of the message directly before it; "" if it begins the chain."""
    after: Role | None
    """The role of the message directly after it, or None if it ends the chain."""
    problems: Sequence[Problem]
    """The problems that the tree and the contents show."""
    format: str = ""
    """The format in which the chain is written; "" if no document contains it."""
    paired: Container[str] = ()
    """Ids of calls that have a result later in the chain, even in another pair."""
    joined: Container[str] = ()
    """Ids of calls whose result comes after later AI messages of the same unbroken run."""

    request: Request = NO_REQUEST
    """The request of the document, beside its messages."""
    seen: Mark = NO_MARK
    """The marks of all messages before it."""
    _faults: dict[WireForm, list[tuple[Path, int, WireFault]]] = field(default_factory=dict, init=False, compare=False, repr=False)
    _misnamed: dict[int, frozenset[str]] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def is_last(self) -> bool:
        return self.after is None

    @property
    def is_plain(self) -> bool:
        """True if only the JSON of its messages can break a rule: nothing was found, and the chain neither begins nor
        ends here."""
        return not self.problems and self.first_message > 0 and not self.is_last

    @property
    def end(self) -> int | None:
        """The index of the chain's last message, if it is in here."""
        return self.first_message + len(self.section) - 1 if self.is_last else None

    @cached_property
    def messages(self) -> tuple[tuple[Path, int, Message], ...]:
        """Path, index and message of each."""
        paths = section_paths(self.section, self.number)
        numbered = enumerate(self.section.messages, self.first_message)
        return tuple((path, index, message) for path, (index, message) in zip(paths, numbered, strict=True))

    @cached_property
    def rules_of_pairs(self) -> Mapping[Path, frozenset[str]]:
        """The rules of the problems in each pair, or in the header."""
        found: dict[Path, set[str]] = {}
        for problem in self.problems:
            found.setdefault(problem.path.node, set()).add(problem.rule)
        return {node: frozenset(rules) for node, rules in found.items()}

    @cached_property
    def copies(self) -> Counter[ToolResult]:
        """The number of times that it has each result."""
        return Counter(part for message in self.section.messages for part in message.parts if isinstance(part, ToolResult))

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """The marks of each message."""
        return tuple(marks_of(message) for message in self.section.messages)

    @property
    def last_pair(self) -> int:
        """Place of the first message of the last pair."""
        return len(self.section) - (len(self.section.body[-1].messages) if self.section.body else 0)

    def faults(self, form: WireForm) -> list[tuple[Path, int, WireFault]]:
        """Return the faults in the JSON of the messages, each with the path and index of its message."""
        if form not in self._faults:
            found = ((place, fault) for place, message in enumerate(self.section.messages) for fault in form(message))
            self._faults[form] = [(*self.messages[place][:2], fault) for place, fault in found]
        return self._faults[form]

    def misnamed(self, number: int) -> frozenset[str]:
        """Return the ids of the calls and results of a pair, by its number from 1, whose result names another function."""
        if number not in self._misnamed:
            pair = self.section.body[number - 1]
            results = ((place, ref) for place, message in enumerate(pair.rest) for ref in message.results)
            found = misnamed_results(pair.ai.calls if pair.ai else (), results)
            self._misnamed[number] = frozenset(id for (_, ref), call in found for id in (ref.id, call.id))
        return self._misnamed[number]

    def roles_around(self, index: int) -> tuple[Role, Role | None]:
        """Return the roles of the messages before and behind the one with this index in the chain."""
        place = index - self.first_message
        messages = self.messages
        before = messages[place - 1][2].role if place else self.before
        after = messages[place + 1][2].role if place + 1 < len(messages) else self.after
        return before, after

    def message(self, problem: Problem) -> Message:
        return self.messages[problem.message - self.first_message][2]


Choice = Rule | Callable[[Excerpt, Problem], Rule | None]
"""The rule that a finding breaks, or a function that chooses it; None if it breaks none."""
WholeCheck = Callable[[Iterable[tuple[Path, int, Message]], str], Iterable[tuple[Path, int, Broken]]]
"""Finds problems of the whole request. Receives each message with its path and index, and the format of the chain."""
SectionCheck = Callable[[Excerpt], Iterable[tuple[Path, int, Broken]]]
"""Finds problems of a section, each with the path and the index of its message."""


@dataclass(frozen=True, eq=False)
class Provider:
    name: str
    label: str
    speaker: str
    """The provider whose words the rules quote."""
    rules: Mapping[str, Choice]
    """The rule that each finding breaks, by the finding's name."""
    reused_id: Callable[[Called, Called], Rule | None] = lambda call, before: None
    """Returns the rule that is broken by a call with the id of an earlier one."""
    call_ids: CallIds = CallIds()
    formats: frozenset[str] = frozenset()
    """Formats whose messages are the JSON that is sent."""
    clients: frozenset[str] = frozenset()
    """Formats of programs that call this API. A form that several APIs use counts for the API that it is named after."""
    message_place: str = "messages[{}]"
    """How the API's errors name a message of the request."""
    vendor: str = ""
    """The vendor of its models, as in the price table; "" if it serves models of several."""
    kinds: frozenset[str] = frozenset()
    """Parts that the API knows and the tree does not."""
    wire: WireForm = lambda message: ()
    """Checks the JSON of a message of one of `formats`."""
    unusual: WireForm | None = None
    """Yields something for a message of one of `formats` if `wire` or `sent` may find more in it than in others with the same contents
    (form_of_contents), which are checked once. None: what `wire` finds, and anything if there are checks in `sent`."""
    sessions: Mapping[str, WireForm] = field(default_factory=dict)
    """The same for formats of sessions, whose lines contain the messages beside other members."""
    wire_rule: Callable[[WireFault], Rule | None] = lambda fault: fault.rule
    """Returns the rule that a fault breaks, or None if the API accepts it."""
    chosen_rules: tuple[Rule, ...] = ()
    """Rules that are chosen by a function: `rules`, `reused_id`, `wire_rule`, `sent`, `opening`, `ending` or `wire`."""
    section_rules: tuple[SectionRule, ...] = ()
    cache_rule: Rule | None = None
    """The rule that a request with more than four cache_control blocks breaks, or None if any number is accepted."""
    sent: tuple[SectionCheck, ...] = ()
    """Checks of neighbouring messages in the JSON that is sent."""
    opening: tuple[SectionCheck, ...] = ()
    """Checks of the chain's first section."""
    ending: tuple[SectionCheck, ...] = ()
    """Checks of the chain's last section."""
    whole: tuple[WholeCheck, ...] = ()
    """Checks of the whole chain, for rules about ids other than those of calls. They do not run on stored chains."""

    @cached_property
    def all_rules(self) -> tuple[Rule, ...]:
        """Return every rule that a chain can break here, once."""
        named = [choice for choice in self.rules.values() if isinstance(choice, Rule)]
        cache = () if self.cache_rule is None else (self.cache_rule,)
        return tuple(dict.fromkeys((*named, *self.chosen_rules, *(each.rule for each in self.section_rules), *cache)))

    def is_of(self, format: str) -> bool:
        """Return True if a chain in this format was made with the API."""
        return format in self.clients

    def check_section(self, excerpt: Excerpt) -> Iterable[Problem]:
        """Check all rules that depend only on one section and its neighbouring messages."""
        return [*self.check_rows(excerpt), *self._check_marks(excerpt)]

    def rules_of_sections(self, format: str, request: Request = NO_REQUEST) -> tuple[SectionRule, ...]:
        """Return the section rules that apply to a chain in this format whose document records this request."""
        is_own = self.reads(format)
        return tuple(rule for rule in self.section_rules if (is_own or not rule.in_own_form) and rule.when(request))

    def reads(self, format: str) -> bool:
        """Return True if the provider checks the JSON of messages in this format."""
        return format in self.formats or format in self.sessions

    def unusual_in(self, format: str) -> WireForm:
        """Return the function that yields something for a message which has to be checked on its own."""
        if format in self.sessions:
            return self.sessions[format]
        return self.unusual or (_anything if self.sent else self.wire)

    def _check_marks(self, excerpt: Excerpt) -> Iterator[Problem]:
        marks = join_marks(frozenset(excerpt.marks)) if self.section_rules else NO_MARK
        for rule in self.rules_of_sections(excerpt.format, excerpt.request) if marks else ():
            if rule.applies(marks, is_last=excerpt.is_last):
                ends = excerpt.last_pair if rule.at_end else 0
                marked = (each for each, mark in list(zip(excerpt.messages, excerpt.marks, strict=True))[ends:] if mark & rule.mark)
                for path, index, message in islice(marked, rule.most(excerpt.seen)):
                    yield self.marked(rule, path, index, marked_part(message) if rule.of_part else None)

    def marked(self, rule: SectionRule, path: Path, index: int, part: int | None) -> Problem:
        """Return the problem of a marked message."""
        return self.problem(path, index, (rule.rule, part, rule.what))

    def check_rows(self, excerpt: Excerpt) -> Iterable[Problem]:
        """Check the rules that depend only on a row of a section and its neighbours, for an excerpt that contains no
        more."""
        is_sent = excerpt.format in self.formats
        ending = () if excerpt.request.ends_with_answer else self.ending
        form = self.wire if is_sent else self.sessions.get(excerpt.format)
        faults = excerpt.faults(form) if form else ()
        sent = self.sent if is_sent else ()
        if excerpt.is_plain and not (faults or sent):
            return ()
        found = [said for problem in excerpt.problems for said in self._problems_of(excerpt, problem, form is not None)]
        opens = excerpt.first_message == 0 and not excerpt.request.is_answer
        checks = (*sent, *(self.opening if opens else ()), *(ending if excerpt.is_last else ()))
        found += [self.problem(*broken) for check in checks for broken in check(excerpt)]
        if not faults:
            return found
        known = {(problem.rule, problem.path) for problem in found}
        refused = {problem.path for problem in found if problem.severity == "error" and problem.part is not None}
        said = [self._fault(*fault, excerpt.messages[fault[1] - excerpt.first_message][2]) for fault in faults]
        return [*found, *(each for each in said if each is not None and not _is_reported(each, known, refused))]

    def _fault(self, path: Path, index: int, fault: WireFault, message: Message) -> Problem | None:
        rule = self.wire_rule(fault)
        if rule is None:
            return None
        return replace(self.problem(path, index, (rule, fault.part, fault.what)), fixes=fixes_of_fault(rule, message, fault.part))

    def check_ids(self, calls: Iterable[Called]) -> Iterator[Problem]:
        """Check rules about ids in the whole request. `calls` are all calls of the chain in order."""
        for call, before in repeated(calls):
            rule = self.reused_id(call, before)
            if rule is not None:
                yield self.problem(call.path, call.message, (rule, call.part, f"reuses the call id “{call.id}”"))

    def check_whole(self, messages: Sequence[tuple[Path, int, Message]], format: str) -> Iterator[Problem]:
        """Check rules that depend on the whole request. Receives each message with its path and index."""
        for check in self.whole:
            yield from (self.problem(*broken) for broken in check(messages, format))

    def limits_marks(self, format: str) -> bool:
        """Return True if cache_control is counted in chains of this format."""
        return self.cache_rule is not None and format in self.formats

    def check_marked(self, marked: int, first: Path) -> Iterator[Problem]:
        """Check the rule about cache_control. `marked` is the number of blocks of the whole request that have it, and
        `first` its first message."""
        if self.cache_rule is not None and marked > server_blocks.MOST:
            yield self.problem(first, 0, (self.cache_rule, None, f"begins a request with {marked:,} cache_control blocks"))

    def unread(self, unread: Iterable[Unread]) -> Iterator[Problem]:
        """Yield what content that was not read means for the verdict: the chain is not fully checked."""
        for each in unread:
            yield self._problem(NOT_UNDERSTOOD, Path(1), 0, describe_unread(each), ())

    def problem(self, path: Path, message: int, broken: Broken) -> Problem:
        rule, part, what = broken
        at = Path(path.section, path.pair, path.message, part)
        return self._problem(rule, at, message, f"{place_in_words(path)} {what}.", rule.fixes)

    def _problems_of(self, excerpt: Excerpt, problem: Problem, is_judged: bool) -> Iterator[Problem]:
        if problem.rule == "first-message" and excerpt.request.is_answer:
            return
        choice = self.rules.get(problem.rule, OF_ALL.get(problem.rule))
        if excerpt.request.ends_with_answer and _is_unsent(excerpt, problem):
            return
        if problem.rule == OPAQUE:
            choice = None if self._takes(excerpt, problem, is_judged) else NOT_UNDERSTOOD
        rule = choice if choice is None or isinstance(choice, Rule) else choice(excerpt, problem)
        if rule is not None:
            fixes = rule.fixes or _fixes_of(excerpt, problem)
            said = self._problem(rule, problem.path, problem.message, problem.text, fixes)
            yield replace(said, alike=problem.alike) if problem.alike else said

    def _takes(self, excerpt: Excerpt, problem: Problem, is_judged: bool) -> bool:
        """Return True if the API knows a part that the tree does not know, or if `wire` checks it."""
        message = excerpt.message(problem)
        part = message.parts[problem.part or 0]
        return (is_judged and bool(message.source)) or (isinstance(part, Opaque) and part.kind in self.kinds)

    def _problem(self, rule: Rule, path: Path, message: int, text: str, fixes: tuple[str, ...]) -> Problem:
        """The place is given in `text`."""
        said = f"{text} {self._says(rule)}"
        return Problem(rule.id, rule.severity, path, message, path.part, said, fixes, self.name, rule.source)

    def _says(self, rule: Rule) -> str:
        if rule.severity == "unchecked":
            return f"{self.speaker} may refuse it{f': {rule.note}' if rule.note else ''}."
        if rule.severity == "info":
            return f"{self.speaker}: {rule.note}."
        return f"{self.speaker}: “{rule.quote}”{f' ({rule.note})' if rule.note else ''}"


UNUSUAL = WireFault("", None, "")
"""What `unusual` yields for a message."""


def _anything(message: Message) -> Iterable[WireFault]:
    return (UNUSUAL,)


_REWRITABLE = frozenset(("arguments-type", "content-type", "field-type", "member-missing", "part-empty", "part-type", "tool-calls-empty"))
"""Rules that a message does not break once its format writes it again, if all of its content was understood."""


def fixes_of_fault(rule: Rule, message: Message, part: int | None) -> tuple[str, ...]:
    """Return the fixes of a fault in the JSON of a message: those of the rule, or what helps with a part of this kind."""
    if rule.fixes or rule.id not in _REWRITABLE:
        return rule.fixes
    match message.parts[part] if part is not None else None:
        case Image() | Binary():
            return ("media-to-text",)
        case ToolResult(media=media) if media:
            return ("media-to-text",)
        case Thinking():
            return ("drop-reasoning",)
        case Opaque():
            return ()
    return UNKNOWN_MEMBER.fixes


OF_THE_FORM = frozenset(("member-missing", "field-type"))
"""Rules about the form of a part."""


def _is_reported(problem: Problem, known: Container[tuple[str, Path]], refused: Container[Path]) -> bool:
    """Return True if another rule already reports the fault of this part, or its cause."""
    return (problem.rule, problem.path) in known or (problem.rule in OF_THE_FORM and problem.path in refused)


def _is_unsent(excerpt: Excerpt, problem: Problem) -> bool:
    """Return True if the problem is about the end of a record: a call of the last answer, or the mark of the end of a
    run."""
    is_last_call = problem.rule == "pending-call" and problem.message == excerpt.end
    return is_last_call or problem.rule == "terminal-call" or (problem.rule == "unknown-role" and problem.severity == "info")


IMAGE_ADDRESS = "image-address"
"""The finding that no API can reach the address of an image."""
OF_ALL = {IMAGE_ADDRESS: NOT_UNDERSTOOD}
"""Rules of every provider that has no own rule for a finding."""
OPAQUE = "opaque-part"
"""The finding that the tree does not know the kind of a part."""


MOVE_RESULT, RENAME_RESULT = "move-result", "rename-result"


def _fixes_of(excerpt: Excerpt, problem: Problem) -> tuple[str, ...]:
    """Return the fixes of a problem, those that are possible first. A call whose result is in another pair, or in its own under another id,
    gets that result rather than a new one; a result moves to its call only if the chain has the call before it."""
    part = None if problem.part is None else excerpt.message(problem).parts[problem.part]
    if isinstance(part, ToolCall) and problem.rule == "pending-call" and part.id in excerpt.paired:
        return (MOVE_RESULT, *problem.fixes)
    if isinstance(part, ToolCall) and part.type == "computer":
        return tuple(fix for fix in problem.fixes if fix != "answer-call")  # only a screenshot can be its result
    rules_of_pair = excerpt.rules_of_pairs.get(problem.path.node, ())
    if problem.rule == "pending-call" and "unmatched-result" in rules_of_pair:
        return (RENAME_RESULT, *problem.fixes)
    if not isinstance(part, ToolResult):
        return problem.fixes
    late = {MOVE_RESULT} if problem.rule == "duplicate-result" or part.call_id not in excerpt.paired else set()
    if "pending-call" not in rules_of_pair:
        late.add(RENAME_RESULT)
    if excerpt.copies[part] < 2:
        late.add("drop-copy")
    return tuple(sorted(problem.fixes, key=late.__contains__))


def repeated(calls: Iterable[Called]) -> Iterator[tuple[Called, Called]]:
    """Yield the calls whose id an earlier call of the chain has, each with the last of those."""
    seen: dict[str, Called] = {}
    for call in calls:
        if call.id in seen:
            yield call, seen[call.id]
        seen[call.id] = call
