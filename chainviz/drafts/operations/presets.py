"""Saved options of operations, and readings of whole chains that stay between requests for live previews."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

from django.conf import settings
from django.db import models

from chainviz.accounts.models import User
from chainviz.core.errors import OptionsError, Refused
from chainviz.core.operations.compact import Compact, CompactOptions, print_strategy
from chainviz.core.operations.contract import Options
from chainviz.jobs.lease import storable
from chainviz.jobs.models import AsciiJSONField
from chainviz.store.content.chain import StoredChain

MOST = 10
"""The number of cached readings, enough for two pages."""
T = TypeVar("T")
_kept: OrderedDict[tuple[Hashable, ...], Any] = OrderedDict()


def cached(chain: StoredChain, name: Hashable, work: Callable[[], T]) -> T:
    """Return the result of `work` for this content; `name` identifies the work and its options."""
    history, edition = chain.snapshot.history_id, chain.snapshot.history.edition
    for key in [key for key in _kept if key[0] == history and key[1] != edition]:
        _kept.pop(key, None)
    # the database may reuse a number after a rollback, so the digest is part of the key
    key = (history, edition, chain.snapshot.pk, bytes(chain.snapshot.digest), name)
    if key in _kept:
        _kept.move_to_end(key)
    else:
        _kept[key] = work()
    found: T = _kept[key]
    while len(_kept) > MOST:
        _kept.popitem(last=False)
    return found


LONGEST_NAME = 80


class PresetQuerySet(models.QuerySet["Preset"]):
    def visible_to(self, person: User) -> PresetQuerySet:
        return self.filter(owner=person)


class Preset(models.Model):
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="presets")
    operation = models.CharField(max_length=32)
    name = models.CharField(max_length=LONGEST_NAME)
    options = AsciiJSONField()
    """The options that differ from their defaults."""
    changed_at = models.DateTimeField(auto_now=True)

    objects = PresetQuerySet.as_manager()

    class Meta:
        app_label = "drafts"
        constraints = [models.UniqueConstraint(fields=["owner", "operation", "name"], name="preset_named_once")]
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name} ({self.operation})"


def presets_of(person: User, operation: str) -> models.QuerySet[Preset]:
    return Preset.objects.visible_to(person).filter(operation=operation)


def saved_strategies(person: User) -> Iterator[tuple[str, str]]:
    """Return the saved strategies of compaction as JSON, by name (settings.SAVED_STRATEGIES). Strategies of an earlier release that can no
    longer be read are left out."""
    for preset in presets_of(person, Compact.name):
        try:
            compactor = CompactOptions.model_validate(preset.options).compactor
        except (ValueError, OptionsError):
            continue
        if compactor is not None:
            yield print_strategy(compactor), preset.name


def save_preset(person: User, operation: str, name: str, options: Options) -> Preset:
    """Save options under a name. Replaces options with the same name. Raises Refused if the name is empty."""
    name = storable(" ".join(name.split()))[:LONGEST_NAME]
    if not name:
        raise Refused("Enter a name for the strategy.")
    said = options.model_dump(mode="json", exclude_defaults=True)
    preset, _ = Preset.objects.update_or_create(owner=person, operation=operation, name=name, defaults={"options": said})
    return preset
