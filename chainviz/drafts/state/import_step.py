"""A state document as the next version of a chain: a step of the person's draft."""

from __future__ import annotations

from chainviz.chains.render.numbers import count_text
from chainviz.chains.uploads.state_files import require_state
from chainviz.core.chain.chain import Splice, apply_splices
from chainviz.core.chain.messages import Message
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.source import open_source
from chainviz.core.errors import Refused
from chainviz.core.formats import FORMATS, get_format
from chainviz.core.formats.frameworks.goaitools_state import GoaitoolsState
from chainviz.core.load import load_source
from chainviz.core.operations.contract import Decision
from chainviz.core.state.continued import continuation
from chainviz.core.state.document import State, write_state
from chainviz.core.state.export import is_state_format
from chainviz.core.state.faults import StateFile
from chainviz.core.state.file_notes import MOST_BYTES
from chainviz.core.state.processed_length import provider_length, seen_messages, with_length
from chainviz.core.state.salvage import salvage
from chainviz.drafts.operations.proposal import Proposal
from chainviz.store.history.steps import NewStep
from chainviz.store.query.state import StatePart

TOO_LARGE = "A chain or a state of more than 32 MB cannot be compared here. Import the state as a new chain."


def import_proposal(part: StatePart, provider: str, file: StateFile, *, salvaged: bool) -> Proposal:
    """Raises StateRefused where the document has a problem, unless `salvaged` takes its readable messages; Refused where
    nothing changes, or where it is too large."""
    if max(len(file.content), part.chain.snapshot.stored) > MOST_BYTES:
        raise Refused(TOO_LARGE)
    if not salvaged:
        require_state(file.content, file)
    state = salvage(file, provider).state
    messages = _messages(state)
    chain = part.chain
    changes = tuple(continuation(chain.slice(part.start, len(chain)), part.start, messages))
    around = _surroundings(part, state, messages, changes)
    if not changes and around is None:
        raise Refused("The state has the same messages as the chain, so nothing changes.")
    added, removed = sum(each.added for each in changes), sum(each.removed for each in changes)
    said = f"{count_text(added, 'message')} added, {removed:,} removed"
    report = [Decision("", "import_state", said)]
    return Proposal(NewStep(changes, "edit", {"action": "import_state"}, report, around))


def _messages(state: State) -> tuple[Message, ...]:
    if not state.messages:
        return ()
    name = next(each.name for each in FORMATS if isinstance(each, GoaitoolsState) and each.provider == state.provider)
    with open_source(write_state(state)) as source:
        return load_source(source, name)[0].messages


def _surroundings(
    part: StatePart, state: State, messages: tuple[Message, ...], changes: tuple[Splice, ...]
) -> DocumentContext | None:
    """With the processed_length of the imported state; None where the chain has none or it stays the same."""
    chain = part.chain
    if not is_state_format(chain.format):
        return None
    length = state.processed_length
    if get_format(chain.format).packs:
        seen = seen_messages(length, [message.source for message in messages])
        after = apply_splices(chain.slice(0, len(chain)), changes)
        length = provider_length(seen, [message.source for message in after])
    return chain.surroundings.rewritten(lambda text: with_length(text, length))
