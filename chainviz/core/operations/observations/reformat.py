"""Results in texts, written in another convention. Roles, media and the text around the results stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import Message, Text
from chainviz.core.observations.contract import LABELS, ObservedMessage
from chainviz.core.observations.reader import walk
from chainviz.core.observations.round_trip import Loss, rewrite
from chainviz.core.observations.texts import ObservationReader, is_wrapped
from chainviz.core.operations.observations.contract import Rewrite, Task
from chainviz.core.operations.observations.options import ConventionName, ObservationsOptions
from chainviz.core.progress import counted


def rewrites(task: Task) -> Iterator[Rewrite]:
    return (rewrite for _, rewrite in rewrites_to(task, (task.options.to,)))


def rewrites_to(task: Task, targets: Sequence[ConventionName]) -> Iterator[tuple[ConventionName, Rewrite]]:
    """For each of several conventions; the chain is read once."""
    reader = ObservationReader(task.recognition.tools)
    choices = [task.options.model_copy(update={"to": target}) for target in targets]
    walked = walk(task.chain, task.recognition)
    for place, message, observed in counted(walked, len(task.chain), task.context.progress, "read"):
        for options in choices:
            chosen = [each for each in observed if _is_to_change(each, options)]
            if chosen:
                yield options.to, _rewrite(place, message, chosen, options, reader)


def _is_to_change(observed: ObservedMessage, options: ObservationsOptions) -> bool:
    text = observed.text
    if text is None or text.convention not in options.sources:
        return False
    return text.convention != options.to or text.is_wrapped != is_wrapped(options.to, options.wrapper)


def _rewrite(
    place: int,
    message: Message,
    observed: Sequence[ObservedMessage],
    options: ObservationsOptions,
    reader: ObservationReader,
) -> Rewrite:
    parts = list(message.parts)
    losses: list[Loss] = []
    survived = 0
    for each in observed:
        part = parts[each.part]
        assert isinstance(part, Text) and each.text is not None
        new = rewrite(part.text, each.text, options.to, options.wrapper, reader)
        parts[each.part] = replace(part, text=new.text)
        losses += new.losses
        survived += new.survived
    before = ", ".join(dict.fromkeys(LABELS[each.convention] for each in observed))
    return Rewrite(
        Splice(place, 1, (replace(message, parts=tuple(parts)),)),
        f"{before} to {LABELS[options.to]}",
        results=sum(len(each.results) for each in observed),
        survived=survived,
        size_before=message.size,
        losses=tuple(losses),
    )
