"""Four chains to look around with: one clean, one with huge outputs, one broken in five ways, one with reasoning and images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files

from chainviz.accounts.models import Membership, local_member
from chainviz.chains.models import Chain
from chainviz.chains.samples import chart_review, coding_run
from chainviz.chains.services import rename
from chainviz.chains.uploads.imports import import_offer, known_chain
from chainviz.core.documents.source import open_source
from chainviz.core.formats.offers import offers_of


@dataclass(frozen=True, slots=True)
class SampleChain:
    file_name: str
    title: str
    build: Callable[[], bytes]


def _packaged(name: str) -> Callable[[], bytes]:
    return lambda: (files(__name__) / name).read_bytes()


SAMPLES = (
    SampleChain("depot_plan_broken.json", "Depot plan, broken in five ways", _packaged("depot_plan_broken.json")),
    SampleChain("chart_review.json", "Cold room charts, with reasoning", chart_review.build),
    SampleChain("coding_run.json", "Why is the nightly import slow?", coding_run.build),
    SampleChain("support_chat.json", "Jacket a size too small", _packaged("support_chat.json")),
)


def load_samples(member: Membership | None = None) -> list[Chain]:
    """Put the samples into a team's library, or back into it, and return them in the order of SAMPLES. Those that are
    there stay as they are."""
    team_member = member or local_member()
    chains = []
    for sample in SAMPLES:
        with open_source(sample.build()) as source:
            for offer in offers_of(source):
                is_new = known_chain(team_member, source, offer) is None
                chain = import_offer(team_member, source, offer, file_name=sample.file_name)
                if is_new:
                    rename(chain, sample.title)
                if chain.is_in_bin:
                    chain.trashed_at = None
                    chain.save(update_fields=["trashed_at"])
                chains.append(chain)
    return chains
