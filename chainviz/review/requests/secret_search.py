"""The search for secrets that the rules of a team may ask for: at once in a short chain, by a job in a long one."""

from __future__ import annotations

from dataclasses import dataclass

from chainviz.accounts.models import User
from chainviz.chains.models import Chain
from chainviz.chains.secrets.findings import is_long, scan
from chainviz.chains.secrets.scans import SCAN, scan_args, spots_of, start_scan
from chainviz.chains.secrets.written import findings_in_texts
from chainviz.jobs.models import Job
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Snapshot


@dataclass(frozen=True, slots=True)
class Search:
    values: int | None = None
    """Values found in the newest version and in the title, which exports to read show; None where nobody searched."""
    job: Job | None = None
    """The newest one, which is not done."""

    @property
    def is_running(self) -> bool:
        return self.job is not None and not self.job.is_finished

    @property
    def note(self) -> str:
        """Why there is no result."""
        if self.job is None:
            return "this chain is long"
        return f"searching, {self.job.progress:.0%}" if self.is_running else f"the search was {self.job.state}"


def search_of(chain: Chain) -> Search:
    snapshot = _snapshot(chain)
    stored = StoredChain(snapshot)
    in_title = findings_in_texts([chain.title]).values
    if not is_long(stored):
        return Search(len({spot.mark for spot in scan(stored)}) + in_title)
    jobs = Job.objects.filter(function=SCAN, args=scan_args(snapshot)).order_by("-pk")
    done = jobs.filter(state=Job.State.DONE).first()
    return Search(job=jobs.first()) if done is None else Search(len({spot.mark for spot in spots_of(done)}) + in_title)


def start_search(chain: Chain, person: User) -> bool:
    """Starts the job that a long chain needs; returns False where there is a result, or one is under way."""
    found = search_of(chain)
    if found.values is not None or found.is_running:
        return False
    start_scan(_snapshot(chain), person)
    return True


def _snapshot(chain: Chain) -> Snapshot:
    return Snapshot.objects.select_related("history").get(
        versions__history=chain.history, versions__number=chain.version
    )
