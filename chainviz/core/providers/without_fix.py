"""Why no repair is offered for some problems, by the id of the rule: what a person has to decide instead."""

from __future__ import annotations

from collections.abc import Mapping

from chainviz.core.chain.problems import Problem

_JSON = "edit the message in its source"
_FORM = f"The intended content is unknown: {_JSON}, or convert the chain to this API's format."

WITHOUT_FIX: Mapping[str, str] = {
    "arguments-type": "The arguments have another API's type: convert the chain to this API's format.",
    "assistants-alternate": "A merge would change who said what in which turn: merge the messages by hand.",
    "call-after-model": "Something may be missing before the call: insert or move a message by hand.",
    "call-stored": "The call is not in this file, so there is nothing to fix.",
    "call-id-reused": "It is accepted, so there is nothing to fix.",
    "content-type": _FORM,
    "document-without-text": "Only you know what the document is for: add a text to the message.",
    "field-type": _FORM,
    "image-large": "It is refused only in requests with many images: replace it if yours has more than 20.",
    "last-role": "It depends on the next request: append a human message before you send the chain.",
    "member-missing": f"The missing content is not in the chain: {_JSON}.",
    "messages-missing": "Add the message that the model should answer.",
    "part-empty": _FORM,
    "part-role": _FORM,
    "part-twofold": f"The intended content is unknown: {_JSON}.",
    "part-type": _FORM,
    "parts-too-many": "Only you know which ones to remove: delete some, or split the message.",
    "result-empty": "Only the tool knows what failed: edit the result.",
    "result-without-name": "It is accepted, so there is nothing to fix.",
    "text-between-calls": "The text would move before the call, or the call after it: move one of them by hand.",
    "tool-calls-empty": f"An empty list of calls says nothing: {_JSON}.",
}


def reason_without_fix(problem: Problem) -> str:
    """A sentence; "" where a repair is offered or nothing was found that could be repaired."""
    return "" if problem.fixes else WITHOUT_FIX.get(problem.rule, "")
