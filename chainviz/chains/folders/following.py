"""What the head of a chain says of the file that it came from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.urls import reverse

from chainviz.chains.folders.choose_folders import may_choose
from chainviz.chains.folders.scan import is_inside, is_running
from chainviz.chains.models import Chain, LocalFile
from chainviz.chains.uploads.local_files import state_of
from chainviz.store.history.versions import head_of
from chainviz.store.models import History
from chainviz.store.transfer.growth import last_file_state


@dataclass(frozen=True, slots=True)
class Following:
    chain: Chain
    number: int
    """The version that the page shows."""
    file: LocalFile
    is_running: bool
    has_changed: bool

    @property
    def address(self) -> str:
        return reverse("chains:follow", args=[self.chain.pk])

    @property
    def newer(self) -> str:
        """The address of a newer version."""
        return reverse("chains:chain", args=[self.chain.pk]) if 0 < self.number < self.chain.version else ""

    @property
    def newest(self) -> str:
        """The address of the newest version."""
        return reverse("chains:version", args=[self.chain.pk, self.chain.version])

    @property
    def is_grown(self) -> bool:
        """The newest version is what the file holds, and nobody's edit."""
        head, state = head_of(History.objects.get(pk=self.chain.history)), last_file_state(self.chain.history)
        return state is not None and head.snapshot_id == state.pk


def following(chain: Chain, number: int) -> Following | None:
    """None for a chain that came from no file of this machine, or from one that is gone."""
    file: LocalFile | None = getattr(chain, "local_file", None)
    if file is None or file.modified is None or not may_read(file):
        return None
    try:
        size, modified = state_of(Path(file.path))
    except OSError:
        return None
    changed = (size, modified) != (file.size, file.modified)
    return Following(chain, number, file, is_running(modified), changed)


def may_read(file: LocalFile) -> bool:
    """In team mode only what lies in the folders that the settings of the server name."""
    return may_choose() or any(is_inside(Path(file.path), folder) for folder in settings.CHAINVIZ.folder_paths)
