"""What an owner chooses for a share link: the version it shows and the days until it expires."""

from __future__ import annotations

from django import forms

from chainviz.chains.models import Chain
from chainviz.store.models import Version


class ShareForm(forms.Form):
    version = forms.IntegerField(
        label="Version", min_value=1, widget=forms.NumberInput(attrs={"class": "input", "autocomplete": "off"})
    )
    days = forms.ChoiceField(
        label="Expires",
        choices=[("1", "in 1 day"), ("7", "in 7 days"), ("30", "in 30 days"), ("90", "in 90 days")],
        initial="7",
        widget=forms.Select(attrs={"class": "select"}),
    )

    def __init__(self, chain: Chain, data: object = None, version: int | None = None) -> None:
        super().__init__(data, initial={"version": version or chain.version})  # type: ignore[arg-type]
        self.chain = chain

    def clean_version(self) -> int:
        number = int(self.cleaned_data["version"])
        if not Version.objects.filter(history=self.chain.history, number=number).exists():
            raise forms.ValidationError(f"There is no version {number}; the newest is {self.chain.version}.")
        return number
