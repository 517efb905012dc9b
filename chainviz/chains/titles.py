"""The title of a chain: the name that a person gave it, or the title of its newest content, or the name of its file.

A compaction or a summary removes the first request from the content, but the chain keeps its earlier title.

A title may quote the content. Therefore logs, mails and the audit refer to a chain by its number or file, and the export of a version has
the title of that version (`title_in`), because another title may quote content that the version does not contain.
"""

from __future__ import annotations

from pathlib import PurePath

from chainviz.chains.models import Chain
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.messages import HUMAN
from chainviz.core.formats.traces.inspect_log import filled_in
from chainviz.core.operations.compact import Compact
from chainviz.core.operations.mask import MASK
from chainviz.core.operations.summarize import SUMMARIZE
from chainviz.core.usage.document_usage import recorded_title, title_of
from chainviz.jobs.lease import storable
from chainviz.store.content.message_reader import BodyReader, pieces_of, read_rows
from chainviz.store.content.pieces import Places
from chainviz.store.lineage import ancestors
from chainviz.store.models import Snapshot
from chainviz.store.transfer.document_context import context_of

LENGTH = 120
"""The most characters of a title that is taken from the content."""
LOOKED_AT = 60
"""The number of messages that are searched for the first request, because agents begin with their own messages."""
BRANCH = " (branch)"
SHORTENING = {Compact.name, SUMMARIZE.name}


def title_in(chain: Chain, snapshot: Snapshot) -> str:
    """Return the title of the chain for an export of this content."""
    return chain.title if chain.titled_by == Chain.TitledBy.PERSON else _derived(chain, snapshot)[0]


def set_title(chain: Chain, snapshot: Snapshot) -> None:
    """Set the title of a chain for its newest content, without saving."""
    if chain.titled_by != Chain.TitledBy.PERSON:
        chain.title, chain.titled_by = _derived(chain, _unshortened(snapshot))


def save_title(chain: Chain, snapshot: Snapshot) -> None:
    """Set and save the title, unless a person has named the chain meanwhile."""
    set_title(chain, snapshot)
    unnamed = Chain.objects.filter(pk=chain.pk).exclude(titled_by=Chain.TitledBy.PERSON)
    unnamed.exclude(title=chain.title, titled_by=chain.titled_by).update(title=chain.title, titled_by=chain.titled_by)


def branch_title(chain: Chain) -> str:
    return f"{chain.title[: 200 - len(BRANCH)]}{BRANCH}"


def _unshortened(snapshot: Snapshot) -> Snapshot:
    """Return the content before the first step that shortened the chain, but never from before a masking step, because the title must not
    contain a masked value."""
    found, is_shortened = snapshot.pk, False
    for key, operation in ancestors(snapshot).items():
        found = key if is_shortened else found
        is_shortened = operation in SHORTENING
        if operation == MASK.name:
            break
    return snapshot if found == snapshot.pk else Snapshot.objects.get(pk=found)


def _derived(chain: Chain, snapshot: Snapshot) -> tuple[str, str]:
    """Return the title and its origin."""
    suffix = BRANCH if chain.is_branch else ""
    words = recorded_title(context_of(snapshot)) or _first_request(snapshot)
    if words:
        return f"{storable(marks(one_line(words, LENGTH)))}{suffix}"[:200], Chain.TitledBy.CONTENT
    return f"{file_title(chain.file_name, chain.part)[: 200 - len(suffix)]}{suffix}", Chain.TitledBy.FILE


def file_title(file_name: str, part: str) -> str:
    """Return the title of a chain without a title in its content. `part` is the name of the chain in its file; "" if it is the only one."""
    stem = PurePath(file_name).stem or file_name
    return storable(f"{stem}: {part}" if part else stem)[:200]


def _first_request(snapshot: Snapshot) -> str:
    first = read_rows(Places(pieces_of(snapshot)).at(range(min(LOOKED_AT, snapshot.messages))))
    bodies = BodyReader()
    human = (bodies.begun([row])[0] for row in first if row.shape.role == HUMAN)
    titles = (title_of(message) for message in filled_in(human, context_of(snapshot).texts))
    return next(filter(None, titles), "")
