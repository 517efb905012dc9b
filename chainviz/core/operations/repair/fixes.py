"""The named fixes that a person accepts or declines, what each does, which are on by default, and the options of a repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from chainviz.core.chain.messages import Part
from chainviz.core.chain.paths import Path
from chainviz.core.errors import OptionsError
from chainviz.core.operations.contract import Options

CHOICES: dict[str, tuple[str, str]] = {
    "insert-opening": (
        "Insert an opening human message",
        "A short human message is added before the first AI message; everything else stays in place.",
    ),
    "drop-leading": ("Drop everything before it", "Everything before the first system or human message is dropped."),
    "move-human": (
        "Move the human message up",
        "The first human message moves before the AI messages that came before it, as the reference does; the order changes.",
    ),
    "merge-human": ("Merge the human messages", "Its parts are appended to the human message before it; nothing is lost."),
    "insert-answer": (
        "Insert an answer to the results",
        "A short AI message that says so is added between the results and the human message; everything else stays in place.",
    ),
    "note-system": (
        "Change to a human message",
        "It stays in place as a human message that says it was a system message; nothing is lost or reordered.",
    ),
    "system-to-start": (
        "Merge into the first system message",
        "Its parts are appended to the system message at the start (or it becomes that message), so it applies to the whole chain.",
    ),
    "note-role": (
        "Change to a human message",
        "It stays in place as a human message that names its role; nothing is lost.",
    ),
    "drop-message": ("Drop the message", "The message is dropped with all its content."),
    "move-result": (
        "Move the result to its call",
        "The result moves to the pair whose AI message makes this call and has no result yet; nothing is lost.",
    ),
    "rename-result": (
        "Give the result the id of its call",
        "The result gets the id of the call that has none: their ids differ in spelling, or the pair has no other. Nothing else changes.",
    ),
    "result-to-text": (
        "Change the result to a human message",
        "The result becomes text of a human message after the pair, so it stays readable but no longer answers a call.",
    ),
    "add-call": (
        "Add the missing call",
        "A call with the result's id and name and the arguments {} is added before it, since a result proves that there was one.",
    ),
    "drop-result": ("Drop the result", "The result is dropped with all its content."),
    "drop-copy": ("Drop the copy", "An identical result, or an identical item of the API, is already there; the copy is dropped."),
    "join-results": (
        "Join both results",
        "Its text is appended to the call's first result below a line that says so; nothing is lost.",
    ),
    "rename-calls": (
        "Give each call its own id",
        "Calls that share an id get separate ids, and so do their results, in order.",
    ),
    "join-turns": (
        "Join it with the message before",
        "Results and texts of one turn become one user message, in order; nothing is lost.",
    ),
    "answer-call": (
        "Answer the call",
        "A result is added that says the call was not handled. It does not claim that anything was executed.",
    ),
    "call-to-text": ("Turn the call into text", "The call becomes text in the same AI message, which says that it was never answered."),
    "user-call-to-text": (
        "Turn the user's call into text", "The call, or its result, becomes text of the same message; nothing is lost.",
    ),
    "pack-results": ("Pack the results", "The tool messages of the summary become one; nothing is lost."),
    "drop-empty": (
        "Drop empty texts",
        "Texts of only white space are dropped, and so is the message if it has no other content.",
    ),
    "drop-thinking": (
        "Drop the reasoning",
        "The message loses its reasoning; if no message of the turn has any, APIs accept the turn with thinking turned off.",
    ),
    "drop-signed": (
        "Drop the signed reasoning",
        "The message loses the reasoning that its provider signed; nothing else changes.",
    ),
    "drop-reasoning": (
        "Drop all reasoning",
        "The message loses its reasoning, for servers that refuse any; nothing else changes.",
    ),
    "empty-reasoning": (
        "Add an empty reasoning",
        "The message gets a reasoning of one space, with which DeepSeek accepts a call whose reasoning is lost; nothing is invented.",
    ),
    "sign-calls": (
        "Mark the call as not signed",
        "The call gets the signature skip_thought_signature_validator, with which Gemini accepts calls that it did not make.",
    ),
    "replace-signatures": (
        "Replace the signatures",
        "Thought signatures are left out, and the first call of a message gets skip_thought_signature_validator, with which Gemini accepts "
        "calls that it did not make; thoughts keep their text.",
    ),
    "mend-arguments": (
        "Fix the arguments",
        "Control characters are escaped and what was cut off is closed again; "
        "where that cannot help they become {} and the old text is kept as a text before the call.",
    ),
    "wrap-arguments": (
        "Put the arguments into an object",
        'They become {"value": …} with the old value inside, or the object that a text contains; nothing is lost.',
    ),
    "image-to-text": ("Put a note in its place", "The image or file is dropped; a text says how large it was, or where it is."),
    "media-to-text": (
        "Put notes in the place of all images and files",
        "Every image and file is dropped, for a model that takes none; a text says how large it was, or where it is.",
    ),
    "respell-media-type": ("Correct the media type", "The image gets the type that its first bytes show."),
    "respell-text": (
        "Replace half characters",
        "Each half of a cut character becomes �; the rest of the text is unchanged.",
    ),
    "media-to-human": (
        "Move images and files to a human message",
        "They become a separate human message after the results; nothing is lost.",
    ),
    "calls-last": ("Put the calls last", "Texts and reasoning of the message move before its calls; nothing is lost."),
    "results-first": ("Put the results first", "The text moves after the results of its message; nothing is lost."),
    "server-result-to-text": (
        "Turn the server's result into text",
        "The result of the API's own tool becomes text of the same message, so it stays readable.",
    ),
    "note-result": (
        "Say that the result is empty", "The result of the failed call gets a text that says that the tool returned none.",
    ),
    "call-to-server": (
        "Write it as a call of the API's own tool",
        "The call becomes the server_tool_use block that its result in the same message answers; nothing is lost.",
    ),
    "drop-cache-marks": (
        "Drop the oldest cache_control marks",
        "Only the last four marked blocks of the request keep their marks, because the cache needs those; nothing else changes.",
    ),
    "append-human": (
        "Add a human message at the end",
        "A human message “Continue.” follows the assistant's words, so that the request ends with a message of the user.",
    ),
    "drop-last": ("Drop the last message", "The assistant's words at the end are dropped; the request ends with what came before."),
    "system-to-slot": (
        "Move it to the system parameter",
        "The text of the first system message becomes the system parameter of the request; nothing is lost.",
    ),
    "text-to-turn-start": (
        "Move the text to the start of the turn",
        "The text is appended to the human message that began the turn; nothing is lost.",
    ),
    "reference-to-text": (
        "Turn the reference into text",
        "Each reference to a tool that the request does not define becomes a text that names the tool.",
    ),
    "compaction-first": ("Put the compaction block first", "The block moves to the start of its message; nothing is lost."),
    "split-calls": (
        "Put the calls into a message of their own",
        "The text stays before them, and a short human message “Continue.” is added between them; nothing is lost.",
    ),
    "define-tools": (
        "Define the tools",
        "The request gets a toolConfig with the name of each tool that is called, which takes any object.",
    ),
    "trim-end": ("Trim the end", "The white space at the very end of the chain is dropped."),
    "respell-id": (
        "Spell the id so that every API accepts it",
        "Other characters than letters, digits, _ and - become _, and 40 are kept; its results follow, and no other call has that id.",
    ),
    "shorten-id": (
        "Give the call an id of nine letters",
        "The id becomes nine letters and digits, as older models of Mistral require; its results follow, and no other call has that id.",
    ),
    "respell-item": (
        "Spell the item so that the API accepts it",
        "An invalid or repeated id is dropped, a missing summary is added empty, reasoning that has content keeps it as its "
        "summary, and a Chat API tool message becomes an output; nothing else changes.",
    ),
    "drop-item-id": (
        "Drop the item's id",
        "The first item of the message loses its id, so that the API does not look for the reasoning before it; nothing else changes.",
    ),
    "rewrite-message": (
        "Rewrite the message",
        "The message is rewritten in its format's usual form; fields that belong to no part are dropped.",
    ),
    "name-result": (
        "Name the function of the result",
        "The result gets the name of the function that its call names; nothing else changes.",
    ),
    "respell-name": (
        "Spell the tool name so that every API accepts it",
        "Other characters than letters, digits, _ and - become _, and 64 are kept; the results of the call follow.",
    ),
}  # fmt: skip
"""Label and explanation of every choice."""

DROP_SIGNED, DROP_REASONING, REWRITE = "drop-signed", "drop-reasoning", "rewrite-message"
ON_DEMAND = frozenset({
    DROP_SIGNED, DROP_REASONING, REWRITE, "sign-calls", "replace-signatures", "media-to-text", "empty-reasoning", "respell-item",
    "drop-item-id", "drop-cache-marks", "append-human", "drop-last", "system-to-slot", "text-to-turn-start", "reference-to-text",
    "define-tools", "insert-answer", "name-result", "split-calls",
    "shorten-id",
})  # fmt: skip
"""Fixes that only one provider needs; they are offered only if the options name them."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A fix that a repair makes or could make. Paths and numbers refer to the chain before the repair."""

    id: str
    """Stable, such as `answer-call@s2.p1.m0:call_x`; always named after the first choice."""
    rule: str
    """The problem it fixes."""
    path: Path
    message: int
    problem: str
    """A sentence for the person."""
    choices: tuple[str, ...]
    """The possible choices, best first; keys of CHOICES."""
    choice: str
    """The choice that is made if the fix is accepted."""
    accepted: bool
    default: bool
    """True if the fix is accepted by default."""
    bytes_before: int
    """Size of the parts that the fix changes."""
    bytes_after: int
    """Size of the parts that replace them."""

    @property
    def name(self) -> str:
        return self.choices[0]

    @property
    def explanation(self) -> str:
        return CHOICES[self.choice][1]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A fix as a pass proposes it, with the parts that each choice would leave."""

    rule: str
    about: int
    """Index of the original message with the problem."""
    part: int | None
    detail: str
    """Distinguishes fixes of the same node: a call id, or empty."""
    problem: str
    before: tuple[Part, ...]
    outcomes: Mapping[str, tuple[Part, ...]]
    """The parts that each choice leaves; the best choice comes first."""
    default: bool = True


OWN = "own"
"""As the goal: the provider to whose API the chain's next call goes."""
NO_FIX = "nothing"
"""As the only name in `only`: all fixes are offered, none is made."""
FIX_LABELS: dict[str, Any] = {
    **{name: label for name, (label, _) in CHOICES.items()},
    "drop-leading": "Drop everything before the first human message",
    "note-system": "Change a system message to a human message",
    "system-to-start": "Merge a system message into the first one",
    "note-role": "Change a message of an unknown role to a human message",
    "join-turns": "Join messages of one turn",
    "image-to-text": "Put a note in the place of an image or file",
}
"""Labels of choices that are unclear without the problem that they fix."""


class RepairOptions(Options):
    preset: Literal["default", "pentagi"] = Field(
        default="default",
        title="Preset",
        description="default loses nothing and explains each fix; pentagi repairs as the PentAGI agent does, which may lose content.",
        json_schema_extra={
            "choices": {"default": "Fixes that lose nothing", "pentagi": "As the PentAGI agent repairs its chains; may lose content"},
            "hint": "",
        },
    )
    goal: str = Field(
        default="",
        title="Goal",
        description="The provider that must accept the next call: only what its API refuses is fixed. `own` is the provider of that "
        "call. Without one, structure problems are fixed.",
    )
    resumes: bool = Field(
        default=False,
        title="Valid when resumed",
        description="With a goal: one more human message must be accepted too, as when an agent resumes a session.",
    )
    only: tuple[str, ...] = Field(
        default=(),
        title="Only these fixes",
        description="Ids or names of the fixes to make; empty: all usual ones.",
        json_schema_extra={"choices": FIX_LABELS, "hint": "None ticked means all usual ones."},
    )
    skip: tuple[str, ...] = Field(
        default=(),
        title="Not these fixes",
        description="Ids or names of fixes to skip.",
        json_schema_extra={"choices": FIX_LABELS, "hint": ""},
    )
    choose: tuple[str, ...] = Field(
        default=(), title="Other fixes for a problem", description="Written problem=fix, such as pending-call=call-to-text."
    )
    since: str = Field(
        default="", title="From here on", description="Path of a node, such as s2.p1: only this node and later ones are fixed."
    )
    content: bool = Field(
        default=True,
        title="Check contents too",
        description="Also fix invalid JSON in arguments and offer to drop empty texts; reads every message.",
    )

    def chosen(self) -> dict[str, str]:
        """Return the chosen fix for each fix id, name or rule."""
        chosen = {}
        for text in self.choose:
            key, _, choice = text.rpartition("=")
            if not key or choice not in CHOICES:
                raise OptionsError(f"“{text[:80]}” is not a choice; write fix=choice with one of the choices {', '.join(CHOICES)}.")
            chosen[key] = choice
        return chosen

    def asks_for(self, name: str) -> bool:
        """Return True if a fix of ON_DEMAND is wanted: the options give its name or id, or every fix is to be offered."""
        return any(each in (name, NO_FIX) or each.startswith(f"{name}@") for each in self.only)

    def accepts(self, fix: Fix) -> bool:
        names = {fix.id, fix.name, fix.rule, fix.choice}
        if names & set(self.skip):
            return False
        return bool(names & set(self.only)) if self.only else fix.default
