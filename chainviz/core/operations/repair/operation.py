"""The repair operation, and its passes in the order in which they run."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from chainviz.core.chain.chain import Chain, MemoryChain, Splice, apply_splices
from chainviz.core.chain.messages import Message
from chainviz.core.chain.reasoning import acts_unsigned, acts_unthinking, is_signed, thinks_signed
from chainviz.core.chain.surroundings import IN_MESSAGES
from chainviz.core.chain.tree import parse
from chainviz.core.counts import count_text
from chainviz.core.errors import Refused
from chainviz.core.formats import get_format
from chainviz.core.formats.coverage import is_shown
from chainviz.core.formats.vendors import get_provider
from chainviz.core.operations.contract import Badge, Context, Decision, Outcome
from chainviz.core.operations.repair.fixes import CHOICES, OWN, Fix, RepairOptions
from chainviz.core.operations.repair.goal import Goal, reach, sent_places
from chainviz.core.operations.repair.passes.calls import (
    calls_by_user,
    fix_pending,
    fix_reused_ids,
    fix_server_results,
    fix_shared_ids,
    fix_summaries,
    fix_user_calls,
    has_lone_results,
)
from chainviz.core.operations.repair.passes.items import fix_items, fix_members, has_items, has_source
from chainviz.core.operations.repair.passes.media import (
    fix_answer_media,
    fix_calls_between,
    fix_media,
    fix_media_types,
    fix_pictures,
    fix_result_media,
    fix_texts_in_results,
    has_answer_media,
    has_calls_between,
    has_media,
    has_pictures,
    has_result_media,
    has_texts_in_results,
)
from chainviz.core.operations.repair.passes.requests import (
    calls_from_code,
    fix_answer_at_end,
    fix_cache_marks,
    fix_compactions,
    fix_leading_system,
    fix_references,
    fix_texts_beside_calls,
    fix_texts_beside_results,
    fix_undefined_tools,
    has_late_compaction,
    has_marks,
    has_text_beside_calls,
    refers_to_tools,
)
from chainviz.core.operations.repair.passes.results import fix_results
from chainviz.core.operations.repair.passes.spelling import (
    fix_arguments,
    fix_empty,
    fix_empty_errors,
    fix_end,
    fix_ids,
    fix_names,
    fix_result_names,
    fix_server_ids,
    fix_short_ids,
    fix_surrogates,
    has_empty_errors,
    has_odd_arguments,
    has_odd_server_ids,
    has_surrogates,
    says_nothing,
)
from chainviz.core.operations.repair.passes.thinking import (
    UNSIGNABLE,
    fix_foreign_signatures,
    fix_missing_reasoning,
    fix_signed,
    fix_thinking,
    fix_unsigned_calls,
    reasons,
)
from chainviz.core.operations.repair.passes.turns import (
    fix_double_humans,
    fix_mid_systems,
    fix_opening,
    fix_trailing_roles,
    fix_turns,
    fix_unanswered_results,
    fix_unknown_roles,
)
from chainviz.core.operations.repair.session import MOVED, Places, Worklist, splices
from chainviz.core.own_provider import own_provider
from chainviz.core.progress import Progress, ignore_progress
from chainviz.core.providers.request import request_of
from chainviz.core.reference import parsed_by_reference

PASSES = (
    fix_members, fix_items, fix_unknown_roles, fix_user_calls, fix_empty, fix_mid_systems, fix_results, fix_shared_ids,
    fix_reused_ids, fix_trailing_roles, fix_pending, fix_summaries, fix_media, fix_pictures, fix_texts_in_results,
    fix_answer_media, fix_media_types, fix_result_media, fix_thinking, fix_signed, fix_missing_reasoning,
    fix_foreign_signatures, fix_unsigned_calls, fix_opening, fix_double_humans, fix_server_results, fix_server_ids, fix_ids, fix_short_ids,
    fix_names, fix_result_names, fix_arguments, fix_empty_errors, fix_surrogates, fix_calls_between, fix_end, fix_turns, fix_cache_marks,
    fix_leading_system, fix_texts_beside_results, fix_references, fix_compactions, fix_undefined_tools, fix_answer_at_end,
    fix_unanswered_results, fix_texts_beside_calls,
)  # fmt: skip
"""In an order in which no pass creates work for an earlier one, so that one run is enough."""
OF_CONTENT = (
    fix_members, fix_items, fix_user_calls, fix_server_results, fix_server_ids, fix_empty, fix_media, fix_pictures, fix_texts_in_results,
    fix_answer_media, fix_media_types, fix_result_media, fix_thinking, fix_signed, fix_missing_reasoning, fix_foreign_signatures,
    fix_unsigned_calls, fix_arguments, fix_empty_errors, fix_surrogates, fix_calls_between, fix_end, fix_cache_marks,
    fix_texts_beside_results, fix_references, fix_compactions, fix_texts_beside_calls,
)  # fmt: skip
"""Passes that have to read messages, because the problem does not show in a message's shape."""


LOOKS = (
    calls_by_user, has_lone_results, says_nothing, has_texts_in_results, has_pictures, has_result_media, reasons,
    acts_unthinking, acts_unsigned, has_odd_arguments, thinks_signed, is_signed, has_items, has_surrogates,
    has_marks, has_answer_media, has_calls_between, calls_from_code, refers_to_tools, has_late_compaction, has_source, has_media,
    has_odd_server_ids, has_empty_errors, has_text_beside_calls,
)  # fmt: skip
"""The searches of these passes."""
READING = 0.7
"""The usual share of the time that reading takes, for the progress bar."""


def propose(chain: Chain, options: RepairOptions | None = None, progress: Progress = ignore_progress) -> tuple[Fix, ...]:
    """Return every fix that a repair with these options would make or skip, in the order of the messages."""
    return tuple(_worked(chain, options or RepairOptions(), progress).fixes)


def _refuse_unread(chain: Chain, changes: Sequence[Splice]) -> None:
    """Raise Refused if a message that is not fully understood would be removed or changed, since content could be lost.

    An unknown role alone does not count: a fix names the role in the text, or drops a message that the person saw.
    """
    if not any(each.kind in IN_MESSAGES for each in chain.surroundings.unread):
        return
    format, kept = get_format(chain.format), {id(message) for change in changes for message in change.messages}
    for change in changes:
        for place, message in enumerate(chain.slice(change.start, change.start + change.removed), change.start):
            if id(message) not in kept and not is_shown(message, format):
                raise Refused(
                    f"{Places(chain).words(place)} is not fully read, and the repair would change it: what chainviz does not understand "
                    "could be lost. Leave out the fixes of this message."
                )


def repaired(messages: Sequence[Message], options: RepairOptions | None = None) -> tuple[Message, ...]:
    """Return the repaired messages."""
    return apply_splices(messages, _worked(MemoryChain(tuple(messages)), options or RepairOptions()).splices())


def _worked(chain: Chain, options: RepairOptions, progress: Progress = ignore_progress) -> Worklist:
    work = Worklist(chain, options, LOOKS if options.content else (), lambda done, text: progress(done * READING, text))
    for i, fix in enumerate(PASSES):
        if options.content or fix not in OF_CONTENT:
            progress(READING + (1 - READING) * i / len(PASSES), f"{count_text(len(work.fixes), 'fix', 'fixes')} found")
            fix(work)
    work.fixes.sort(key=lambda fix: fix.message)
    return work


class Repair:
    name = "repair"
    label = "Fix problems"
    doing = "Repairing"
    badge = Badge("Repaired", "repaired", "repaired")
    nothing = "These choices change nothing."
    Options = RepairOptions

    def run(self, chain: Chain, options: RepairOptions, context: Context) -> Outcome:
        if options.preset == "pentagi":
            return _as_reference(chain)
        if options.goal:
            provider = own_provider(chain, request_of(chain.surroundings)) if options.goal == OWN else get_provider(options.goal)
            outcome = _for_provider(chain, Goal(provider, options.resumes))
        else:
            work = _worked(chain, options, context.progress)
            report = tuple(_row(fix) for fix in work.fixes)
            warnings = (*work.warnings, *_unknown_names(options, work.fixes))
            outcome = Outcome(work.splices(), report, warnings, around=work.around)
        _refuse_unread(chain, outcome.changes)
        return outcome


def _for_provider(chain: Chain, goal: Goal) -> Outcome:
    """Check and fix a chain for one provider. If a session is to be resumed, only the messages that are still sent count."""
    before = tuple(chain.slice(0, len(chain)))
    format = get_format(chain.format)
    start = format.sent_from(before) if goal.resumes else 0
    places = sent_places(format, before) if goal.resumes else range(len(before))
    unsent = sorted(set(range(start, len(before))) - set(places))
    sent = tuple(before[place] for place in places)
    reached = reach(goal, MemoryChain(sent, chain.format, chain.surroundings), _worked)
    after = _with_unsent(before, (*before[:start], *reached.messages), unsent)
    changes = splices(_old_places(before, after), after, len(before))
    left = "No fix ends this error after the compaction" if start else "No fix ends this error"
    warnings = tuple(f"{left}: {problem.text}" for problem in reached.left)
    if any("sign-calls" in problem.fixes for problem in reached.left):
        warnings = (*warnings, UNSIGNABLE)
    sections = len(parse(before[:start]).sections) if start else 0
    return Outcome(changes, tuple(_row(fix, sections) for fix in reached.fixes), warnings, around=reached.around)


def _with_unsent(before: Sequence[Message], after: Sequence[Message], unsent: Iterable[int]) -> tuple[Message, ...]:
    """Put the messages that an agent does not send back in their places. `unsent` contains their indices in `before`, in order."""
    found, waiting = list[Message](), deque(unsent)
    for message, place in zip(after, _old_places(before, after), strict=True):
        while waiting and place != MOVED and waiting[0] < place:
            found.append(before[waiting.popleft()])
        found.append(message)
        while waiting and place != MOVED and waiting[0] == place + 1:
            place = waiting.popleft()
            found.append(before[place])
    return (*found, *(before[place] for place in waiting))


def _row(fix: Fix, sections: int = 0) -> Decision:
    """Return the row of a fix in the report. `sections` is the number of sections before the repaired part of the chain."""
    path = replace(fix.path, section=fix.path.section + sections)
    action = fix.choice if fix.accepted else f"left: {fix.choice}"
    after = fix.bytes_after if fix.accepted else fix.bytes_before
    return Decision(str(path), action, fix.problem, fix.bytes_before, after)


def _unknown_names(options: RepairOptions, fixes: list[Fix]) -> Iterable[str]:
    known = {name for fix in fixes for name in (fix.id, fix.name, fix.rule, fix.choice)} | set(CHOICES)
    for name in (*options.only, *options.skip, *options.chosen()):
        if name not in known:
            yield f"There is no fix “{name[:80]}” to make in this chain."


def _as_reference(chain: Chain) -> Outcome:
    before = chain.slice(0, len(chain))
    after = parsed_by_reference(before, force=True)
    changes = splices(_old_places(before, after), after, len(before))
    return Outcome(changes, tuple(_reference_rows(chain, before, changes)))


def _old_places(before: Sequence[Message], after: Sequence[Message]) -> list[int]:
    """Return the old place of each message that is the same object and still in order, and MOVED for the others."""
    places: dict[int, deque[int]] = {}
    for place, message in enumerate(before):
        places.setdefault(id(message), deque()).append(place)
    kept: list[int] = []
    last = -1
    for message in after:
        queue = places.get(id(message), deque())
        while queue and queue[0] <= last:
            queue.popleft()
        if queue:
            last = queue.popleft()
            kept.append(last)
        else:
            kept.append(MOVED)
    return kept


def _reference_rows(chain: Chain, before: Sequence[Message], changes: Iterable[Splice]) -> Iterable[Decision]:
    places = Places(chain)
    for change in changes:
        old = before[change.start : change.start + change.removed]
        path = places.path(min(change.start, len(before) - 1))
        reason = f"{len(old)} messages give way to {len(change.messages)}, as the reference does with force."
        size = sum(message.size for message in old), sum(message.size for message in change.messages)
        yield Decision(str(path), "pentagi", reason, *size)
