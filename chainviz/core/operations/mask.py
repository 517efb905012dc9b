"""Mask: replace secrets and personal data with placeholders before a chain is shared. A value is masked everywhere it occurs.

Options name places and rules, never a value. Masking changes parts, other fields of their source units, and the text around the
messages. Earlier versions keep everything until they are purged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import Field, field_validator

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import Message
from chainviz.core.errors import OptionsError
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Format, Style
from chainviz.core.operations.contract import Badge, Context, Decision, Options, Outcome
from chainviz.core.progress import Progress, counted
from chainviz.core.secrets import RULES, Masker, Occurrence, Rule, Strategy, Values, WordList, get_rule, mask, scan_chain
from chainviz.core.secrets.scan import is_outside, place_number
from chainviz.core.secrets.word_lists import chosen_lists, rules_of

STRATEGIES: dict[str, str] = {
    "pseudonym": "A numbered placeholder for each value, such as [EMAIL_1]",
    "replace": "One word for all values of a kind, such as [EMAIL]",
    "mask": "Stars, except a public prefix or the last digits",
}
_RULE_LABELS: dict[str, Any] = {rule.name: rule.label for rule in RULES}


class MaskOptions(Options):
    strategy: Strategy = Field(
        "pseudonym",
        title="Replace with",
        description="pseudonym [EMAIL_1] keeps values distinct; replace [EMAIL] does not; mask keeps a prefix or the last digits.",
        json_schema_extra={"choices": {**STRATEGIES}, "hint": "The same value gets the same placeholder everywhere."},
    )
    look_for: Literal["everything", "secrets", "personal"] = Field(
        "everything",
        title="Look for",
        description="Secrets, personal data, or both.",
        json_schema_extra={
            "choices": {"everything": "Secrets and personal data", "secrets": "Secrets", "personal": "Personal data"},
            "hint": "",
        },
    )
    rules: tuple[str, ...] = Field(
        (),
        title="Only these rules",
        description="Names such as openai-key; empty: all.",
        json_schema_extra={"choices": _RULE_LABELS, "hint": "None ticked means all."},
    )
    skip_rules: tuple[str, ...] = Field(
        (), title="Not these rules", description="Names such as ip.", json_schema_extra={"choices": _RULE_LABELS, "hint": ""}
    )
    own_patterns: str = Field(
        "",
        title="Your own patterns",
        description="One per line, in RE2 syntax. A group named “value” is the secret.",
        json_schema_extra={"long": True},
    )
    own_words: str = Field(
        "",
        title="Your own words",
        description="One per line, for example customer names; whole words only. Upper and lower case are one word.",
        json_schema_extra={"long": True},
    )
    word_lists: tuple[str, ...] = Field((), title="Word lists", description="Names of saved word lists. A recipe brings its own.")
    decline: tuple[str, ...] = Field(
        (), title="Do not mask these", description="Ids of findings that are not secrets.", json_schema_extra={"hidden": True}
    )

    @field_validator("rules", "skip_rules")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if get_rule(name) is None:
                raise ValueError(f"there is no rule “{name[:40]}”; there are {', '.join(rule.name for rule in RULES)}")
        return names

    @field_validator("own_patterns")
    @classmethod
    def _usable(cls, text: str) -> str:
        return _checked(WordList("", patterns=text), text)

    @field_validator("own_words")
    @classmethod
    def _findable(cls, text: str) -> str:
        return _checked(WordList("", text), text)

    def without_secrets(self) -> MaskOptions:
        return self.model_copy(update={"own_patterns": "", "own_words": ""})

    def chosen(self, known_lists: Mapping[str, WordList]) -> tuple[Rule, ...]:
        """Return the rules to search with. Raises OptionsError for an unknown word list."""
        group = {"secrets": "secret", "personal": "personal"}.get(self.look_for)
        known = (
            rule
            for rule in RULES
            if group in (None, rule.group) and (not self.rules or rule.name in self.rules) and rule.name not in self.skip_rules
        )
        # after the known rules, so that a short pattern never claims a part of a key that they find
        return (*known, *rules_of(self.own_lists(known_lists)))

    def own_lists(self, known: Mapping[str, WordList]) -> tuple[WordList, ...]:
        """Return the word lists to search for in addition to the known rules. Raises OptionsError for an unknown word
        list."""
        return (WordList("", self.own_words, self.own_patterns), *chosen_lists(self.word_lists, known))


def _checked(typed: WordList, text: str) -> str:
    try:
        typed.rules()
    except OptionsError as refused:
        raise ValueError(str(refused).rstrip(".")) from None
    return text


WARNINGS = ("The original and earlier versions still contain the masked values; only a purge removes them there.",)
LOOKING = 0.6
"""The share of the running time that the search takes, for the progress bar."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The values to mask, found in one pass over the chain."""

    masker: Masker
    accepted: dict[int, list[Occurrence]]
    """The findings by message; -1 for the text around the messages."""
    values: Values
    """Values that are masked everywhere, because they were declined nowhere."""

    def in_parts(self, message: int) -> list[Occurrence]:
        return [each for each in self.accepted.get(message, ()) if not is_outside(each.finding.place)]


@dataclass(frozen=True, slots=True)
class Masked:
    index: int
    old: Message
    new: Message
    """The masked message, or the old one if nothing in its parts is masked."""


def choose(chain: Chain, options: MaskOptions, rules: Sequence[Rule], progress: Progress) -> Chosen:
    masker = Masker(options.strategy)
    accepted: dict[int, list[Occurrence]] = {}
    declined: set[str] = set()
    for each in scan_chain(chain, rules, progress):
        if each.id not in options.decline:
            accepted.setdefault(each.message, []).append(each)
        elif not is_outside(each.finding.place):
            declined.add(each.finding.value)
    for each in (each for found in accepted.values() for each in found):
        # outside of parts, a value is masked only if it was declined nowhere
        if not (is_outside(each.finding.place) and each.finding.value in declined):
            masker.placeholder(each.finding.rule, each.finding.value)
    # a value that was declined in one place is masked only where it was found
    found = (each.finding for several in accepted.values() for each in several)
    words = {finding.value for finding in found if finding.rule.group == "own"}
    values = Values({v: p for v, p in masker.placeholders.items() if v not in declined}, words)
    return Chosen(masker, accepted, values)


def masked(chain: Chain, chosen: Chosen, progress: Progress) -> Iterator[Masked]:
    """Yield every message of the chain, masked."""
    for index, message in enumerate(counted(chain.stream(0, len(chain)), len(chain), progress, "masked")):
        findings = [each.finding for each in chosen.in_parts(index)]
        new = chosen.values.mask(mask(message, findings, chosen.masker))
        yield Masked(index, message, new)


def in_source(each: Masked, values: Values, format: Format) -> Message:
    """Return the new message as the format writes it, without the values in fields outside its parts; unchanged if its source is in
    another format."""
    new, old = each.new, each.old
    replaced = values.mask_source(old)
    if new is old and replaced is old:
        return old
    if not old.source or format.message(old.role, old.source) != old:
        return new
    again = format.message(old.role, replaced.source)
    if replace(again, source=()) == replace(new, source=()):
        return again  # only the values changed
    if new is not old:
        near = old.source[0].text
        new = replace(new, source=format.write(new, Style(near, near.isascii())))
    masked = values.mask_source(new)
    return new if masked is new else format.message(masked.role, masked.source)


class Mask:
    name = "mask"
    label = "Mask secrets"
    doing = "Masking secrets"
    badge = Badge("Masked", "mask", "redacted")
    nothing = "Nothing is chosen, so there is nothing to mask."
    Options = MaskOptions

    def run(self, chain: Chain, options: MaskOptions, context: Context) -> Outcome:
        rules = options.chosen(context.word_lists)
        chosen = choose(chain, options, rules, lambda done, text: context.progress(done * LOOKING, f"Looking: {text}"))
        if not chosen.masker.placeholders:
            return Outcome(())
        format = get_format(chain.format)
        changes: list[Splice] = []
        for each in masked(chain, chosen, lambda done, text: context.progress(LOOKING + done * (1 - LOOKING), text)):
            new = in_source(each, chosen.values, format)
            if new is not each.old:
                changes.append(Splice(each.index, 1, (new,)))
        report = tuple(_rows(chosen))
        counts = {"declined": len(options.decline), "own_patterns": sum(rule.group == "own" for rule in rules)}
        return Outcome(
            tuple(changes),
            report,
            WARNINGS,
            around=chosen.values.mask_piece,
            kept_options=_stored_options(options, chosen, changes) | counts,
            audit=_audit(options, report) | counts,
        )


def _rows(chosen: Chosen) -> Iterator[Decision]:
    for each in (each for found in chosen.accepted.values() for each in found):
        rule, value = each.finding.rule, each.finding.value
        if value not in chosen.masker.placeholders:
            continue
        size = len(value.encode("utf-8", "surrogatepass"))
        after = len(chosen.masker.placeholders[value].encode("utf-8", "surrogatepass"))
        yield Decision(each.path, "mask", f"{rule.label} {_where(each)}", size, after, kind="value")


def _where(each: Occurrence) -> str:
    if each.message < 0:
        return "beside the messages"
    return "in another field" if is_outside(each.finding.place) else f"in the {each.finding.place}"


def _stored_options(options: MaskOptions, chosen: Chosen, changes: Sequence[Splice]) -> dict[str, Any]:
    """Return the options to store. Patterns, words and values are left out, because a pattern may contain the masked value."""
    said = options.model_dump(exclude_defaults=True, exclude={"own_patterns", "own_words"})
    return said | {"places": list(_places(chosen, [change.start for change in changes]))}


def _places(chosen: Chosen, changed: Sequence[int]) -> Iterator[tuple[str | int, ...]]:
    """Yield the placeholder and one place of each value: changed message, part, text, start, end; or -1, the index of the text around the
    messages, "", start, end."""
    told: set[str] = set()
    at = {index: number for number, index in enumerate(changed)} | {-1: -1}
    for each in (each for index in at for each in chosen.accepted.get(index, ())):
        finding = each.finding
        placeholder = chosen.masker.placeholders.get(finding.value)
        if placeholder is not None and finding.value not in told:
            told.add(finding.value)
            part = place_number(finding.place) if each.message < 0 else finding.part
            yield placeholder, at[each.message], part, finding.place, finding.start, finding.end


def _audit(options: MaskOptions, report: Sequence[Decision]) -> dict[str, Any]:
    rows = [[row.path, row.reason, row.bytes_before, row.bytes_after] for row in report]
    return {"strategy": options.strategy, "look_for": options.look_for, "rows": rows}


MASK = Mask()
