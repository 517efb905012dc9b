"""Files of this machine into the library, with nobody to ask: every chain of a file, in the likeliest format, its earlier
states as its first versions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.urls import reverse

from chainviz.accounts.models import Membership
from chainviz.chains.models import Chain, LocalFile
from chainviz.chains.uploads.imports import import_offer, known_chain
from chainviz.chains.uploads.offer_rows import folded
from chainviz.core.documents.source import open_source
from chainviz.core.errors import DocumentError
from chainviz.core.formats.offers import offers_of


@dataclass(frozen=True, slots=True)
class TakenFile:
    """What a file became: `fresh` counts the chains that were not in the library before."""

    chains: tuple[Chain, ...]
    fresh: int

    def told(self, site: str) -> str:
        """Half a sentence that leads on."""
        if len(self.chains) > 1:
            here = (
                "" if self.fresh == len(self.chains) else f", {len(self.chains) - self.fresh} of them already uploaded"
            )
            return f"{len(self.chains)} chains{here}: {site}"
        chain = self.chains[0]
        if chain.is_in_bin:
            return f"in the bin: {site}{reverse('chains:bin')[1:]}"
        place = f"{site}{reverse('chains:chain', args=[chain.pk])[1:]}"
        return place if self.fresh else f"already uploaded, now at version {chain.version}: {place}"


def take_file(member: Membership, path: Path, format: str = "") -> TakenFile:
    try:
        with open_source(path) as source:
            offers = folded(source, offers_of(source, format))
            fresh = sum(known_chain(member, source, offer) is None for offer in offers)
            chains = tuple(import_offer(member, source, offer, file_name=path.name) for offer in offers)
    except DocumentError as error:
        raise _named(path, error) from None
    for chain in chains:
        LocalFile.objects.update_or_create(chain=chain, defaults={"path": str(path.absolute())})
    return TakenFile(chains, fresh)


def _named(path: Path, error: DocumentError) -> DocumentError:
    text = " ".join(str(error).split())
    return DocumentError(text if str(path) in text else f"{path}: {text}", error.line, error.column, error.offset)
