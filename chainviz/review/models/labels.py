"""Labels: what people say of a chain or a node in a word or a number, for evaluation work."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from chainviz.chains.models import Chain
from chainviz.core.chain.paths import parse_path
from chainviz.core.review.anchors import Anchor
from chainviz.review.models.requests import OfReview
from chainviz.store.checksums import Checked

LONGEST_TAG = 40


class Label(OfReview):
    class Kind(models.TextChoices):
        TAG = "tag"
        RATING = "rating"
        OUTCOME = "outcome", "Pass or fail"

    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="labels")
    version = models.PositiveIntegerField()
    path = models.CharField(max_length=64, default="", blank=True)
    """Of the node in that version; empty for the whole chain."""
    kind = models.CharField(max_length=7, choices=Kind)
    name = models.CharField(max_length=LONGEST_TAG, default="", blank=True)
    """Of a tag."""
    value = models.SmallIntegerField(null=True)
    """Of a rating, 1 to 5; of an outcome, 1 for pass and 0 for fail."""
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    person_name = models.CharField(max_length=320)
    at = models.DateTimeField()

    class Meta(Checked.Meta):
        indexes = [models.Index(fields=["kind", "name", "value"], name="chains_of_a_label")]

    def __str__(self) -> str:
        return self.text

    @property
    def anchor(self) -> Anchor:
        return Anchor(parse_path(self.path) if self.path else None)

    @property
    def text(self) -> str:
        if self.kind == Label.Kind.TAG:
            return self.name
        return f"{self.value} of 5" if self.kind == Label.Kind.RATING else "pass" if self.value else "fail"

    @property
    def key(self) -> str:
        """How an address names it."""
        return f"{self.kind}:{self.name if self.kind == Label.Kind.TAG else self.value}"
