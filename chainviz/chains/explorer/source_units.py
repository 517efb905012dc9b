"""The source of a node's messages: their units, spelled as in the upload."""

from __future__ import annotations

from django.http import HttpResponse

from chainviz.core.chain.paths import Path
from chainviz.store.content.chain import StoredChain


def source_text(chain: StoredChain, path: Path) -> str:
    """Return one unit unchanged, several as a JSON list. A part has the source of its message."""
    whole = Path(path.section, path.pair, path.message)
    units: dict[tuple[int, int, str], str] = {}
    span = chain.span(whole)
    for source in chain.bodies.sources(chain.rows(span.start, span.stop)):
        for fragment in source:
            # several messages may share a unit, which is shown once
            units.setdefault((fragment.ordinal, fragment.start, fragment.text), fragment.text)
    texts = list(units.values())
    return texts[0] if len(texts) == 1 else "[\n" + ",\n".join(texts) + "\n]"


def source_file(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text.encode("utf-8", "surrogateescape"), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
