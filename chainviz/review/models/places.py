"""Where threads and labels stand in a snapshot: caches, filled when the snapshot is first shown."""

from __future__ import annotations

from django.db import models

from chainviz.review.models.labels import Label
from chainviz.review.models.threads import Thread


class InSnapshot(models.Model):
    class State(models.TextChoices):
        CARRIED = "carried"
        OUTDATED = "outdated"
        REMOVED = "removed"
        FOLDED = "folded"

    snapshot_key = models.BigIntegerField()
    """Of the snapshot; a number, so that the store deletes snapshots without knowing of threads and labels."""
    state = models.CharField(max_length=8, choices=State)
    path = models.CharField(max_length=64, default="", blank=True)
    """Where it is shown: the anchor, what replaced it, or the summary it was folded into; empty where it is gone."""
    message = models.IntegerField(null=True)
    """Index of the first message there; null for the whole chain and for what is gone."""

    class Meta:
        abstract = True


class Place(InSnapshot):
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="places")
    start = models.PositiveIntegerField(null=True)
    end = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["snapshot_key", "thread"], name="place_once_a_thread")]
        indexes = [models.Index(fields=["snapshot_key", "message"], name="places_of_a_window")]

    def __str__(self) -> str:
        return f"thread {self.thread_id} in snapshot {self.snapshot_key}"


class LabelPlace(InSnapshot):
    label = models.ForeignKey(Label, on_delete=models.CASCADE, related_name="places")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["snapshot_key", "label"], name="place_once_a_label")]

    def __str__(self) -> str:
        return f"label {self.label_id} in snapshot {self.snapshot_key}"
