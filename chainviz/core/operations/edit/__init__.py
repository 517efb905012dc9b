"""Edits by hand, one at a time. An edit reads and changes only the messages around its node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from chainviz.core.chain.chain import Chain, Splice, apply_splices
from chainviz.core.chain.messages import AI, Message
from chainviz.core.chain.paths import parse_path
from chainviz.core.errors import Refused
from chainviz.core.formats import get_format
from chainviz.core.operations.contract import Badge, Context, Decision, Outcome
from chainviz.core.operations.edit.locate import FIELDS, Action, Change, EditOptions, Place
from chainviz.core.operations.edit.structure import (
    add_event,
    add_part,
    append,
    append_human,
    delete,
    insert,
    merge,
    move_down,
    move_up,
    set_image,
    split,
)
from chainviz.core.operations.edit.values import (
    answer,
    is_read_again,
    new_call_id,
    set_arguments,
    set_call_id,
    set_name,
    set_result,
    set_role,
    set_text,
    with_copies,
)
from chainviz.core.operations.edit.warnings import edited_messages, is_signed, new_losses, warnings_for, without_signed_reasoning

__all__ = ["FIELDS", "Action", "Edit", "EditOptions"]

ACTIONS: dict[Action, Callable[[Place, EditOptions], Change]] = {
    "text": set_text, "role": set_role, "name": set_name, "arguments": set_arguments, "result": set_result,
    "call_id": set_call_id, "insert": insert, "delete": delete, "move_up": move_up, "move_down": move_down,
    "split": split, "merge": merge, "answer": answer, "add_part": add_part, "image": set_image,
}  # fmt: skip
AT_THE_END: dict[Action, Callable[[Chain, EditOptions], Change]] = {
    "append_human": append_human, "append": append, "add_event": add_event,
}  # fmt: skip

STRUCTURAL: frozenset[Action] = frozenset(("role", "insert", "delete", "move_up", "move_down", "split", "merge"))
"""The actions after which a record may be read as another message."""
BESIDE = 4
"""The number of messages on each side of a change whose records are read again with it."""
MOST_READ = 100
"""The most messages that are read again."""


class Edit:
    name = "edit"
    label = "Edit"
    doing = "Editing"
    badge = Badge("Edited", "edit", "changed")
    nothing = "The edit changes nothing."
    Options = EditOptions

    def run(self, chain: Chain, options: EditOptions, context: Context) -> Outcome:
        if _makes_call(options) and not options.call_id:
            at = len(chain) if options.action in AT_THE_END else Place(chain, parse_path(options.path)).span.start
            options = options.model_copy(update={"call_id": new_call_id(chain, at, context.random)})
        if options.action in AT_THE_END:
            path, change = "", AT_THE_END[options.action](chain, options)
        else:
            place = Place(chain, parse_path(options.path))
            path, change = str(place.path), ACTIONS[options.action](place, options)
        gone = [chain.slice(splice.start, splice.start + splice.removed) for splice in change.splices]
        splices = change.splices if options.action in AT_THE_END else _with_copies(gone, change.splices)
        splices = _without_signed_reasoning(chain, splices) if options.drop_reasoning else splices
        if all(tuple(messages) == splice.messages for messages, splice in zip(gone, splices, strict=True)):
            return Outcome((), warnings=("Nothing changed: the node already is like this.",))
        if options.action == "merge" and (losses := new_losses(chain, splices)):
            raise Refused(f"The format cannot hold the merged message. {losses[0]}")
        if options.action in STRUCTURAL and not _is_read_again(chain, splices):
            label = get_format(chain.format).label
            raise Refused(f"{label} has no way to store this: opened again, the messages would differ. Nothing was changed.")
        sizes = sum(m.size for messages in gone for m in messages), sum(m.size for s in splices for m in s.messages)
        return Outcome(splices, (Decision(path, options.action, change.reason, *sizes),), tuple(warnings_for(chain, splices)))


def _with_copies(gone: Sequence[Sequence[Message]], splices: Sequence[Splice]) -> tuple[Splice, ...]:
    """Return the changes, with copies of a changed text in its own record changed as well. `gone`: the messages that each one removes."""
    return tuple(
        replace(splice, messages=(with_copies(old[0], splice.messages[0]),)) if len(old) == len(splice.messages) == 1 else splice
        for old, splice in zip(gone, splices, strict=True)
    )


def _is_read_again(chain: Chain, splices: Sequence[Splice]) -> bool:
    start = max(0, splices[0].start - BESIDE)
    stop = min(len(chain), splices[-1].start + splices[-1].removed + BESIDE)
    if not chain.format or stop - start > MOST_READ:
        return True
    before = chain.slice(start, stop)
    after = apply_splices(before, [replace(each, start=each.start - start) for each in splices])
    format = get_format(chain.format)
    return not format.writes or is_read_again(format, before, after)


def _makes_call(options: EditOptions) -> bool:
    return bool(options.name) and (options.action == "add_part" or (options.action in ("insert", "append") and options.role == AI))


def _without_signed_reasoning(chain: Chain, splices: tuple[Splice, ...]) -> tuple[Splice, ...]:
    edited = edited_messages(chain, splices)

    def cleaned(message: Message) -> Message:
        return without_signed_reasoning(message) if message in edited and is_signed(message) else message

    return tuple(replace(splice, messages=tuple(map(cleaned, splice.messages))) for splice in splices)
