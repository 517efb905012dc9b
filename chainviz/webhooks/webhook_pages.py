"""The pages of webhooks, for the owners of a team: make one, see its deliveries, send a test, switch it off, delete it."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from chainviz.accounts.audit import note, recorded_together
from chainviz.accounts.models import Team, member_of
from chainviz.accounts.permissions import requires
from chainviz.core.errors import Refused
from chainviz.web.http import see_other
from chainviz.webhooks.models import Delivery, Webhook, new_nonce
from chainviz.webhooks.sending import TEST, check_address, queue, resolve

MOST = 20
"""The most webhooks of a team."""
SHOWN = 100
"""The number of deliveries on the page of a webhook."""


class WebhookForm(forms.Form):
    url = forms.CharField(
        label="Address", max_length=500, widget=forms.TextInput(attrs={"class": "input", "autocomplete": "off", "inputmode": "url"})
    )
    events = forms.MultipleChoiceField(
        choices=Webhook.Event.choices,
        initial=Webhook.Event.values,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one event."},
    )

    def __init__(self, data: QueryDict | None = None, *, team: Team) -> None:
        super().__init__(data, label_suffix="")
        self.team = team

    def clean_url(self) -> str:
        """Look the name up now: an owner learns at once that an address cannot be reached."""
        url = str(self.cleaned_data["url"])
        try:
            resolve(check_address(url))
        except Refused as refused:
            raise forms.ValidationError(str(refused)) from None
        return url

    def clean(self) -> None:
        if self.team.webhooks.count() >= MOST:
            raise forms.ValidationError(f"A team has at most {MOST} webhooks; delete one first.")


@requires("rules", team_mode=True)
@require_http_methods(["GET", "HEAD", "POST"])
def webhooks(request: HttpRequest) -> HttpResponse:
    """List the webhooks, or make one. The form looks a name up, so it is checked before the transaction."""
    team = member_of(request).team
    if request.method != "POST":
        return _list(request, WebhookForm(team=team))
    form = WebhookForm(request.POST, team=team)
    return _create(request, form) if form.is_valid() else _list(request, form, 422)


@recorded_together
def _create(request: HttpRequest, form: WebhookForm) -> HttpResponse:
    """Answer with the page that shows the secret, this one time."""
    url, events = form.cleaned_data["url"], " ".join(form.cleaned_data["events"])
    made = Webhook.objects.create(team=form.team, url=url, events=events)
    note(request, webhook=made.pk, events=made.events)
    return _page(request, made, secret=made.secret)


@requires("rules", team_mode=True)
@require_http_methods(["GET", "HEAD", "POST"])
@recorded_together
def webhook(request: HttpRequest, webhook_id: int) -> HttpResponse:
    """Show one webhook and its deliveries; `act` is test, on, off, secret or delete."""
    found = get_object_or_404(Webhook, team=member_of(request).team, pk=webhook_id)
    if request.method != "POST":
        return _page(request, found)
    act = request.POST.get("act", "")
    note(request, action=act if act in {"test", "on", "off", "secret", "delete"} else "unknown")
    if act == "secret":
        found.nonce = new_nonce()
        found.save(update_fields=["nonce"])
        return _page(request, found, secret=found.secret)
    if act == "delete":
        found.delete()
        messages.success(request, "The webhook was deleted.")
        return see_other("webhooks:webhooks")
    if act == "test" and found.is_active:
        queue(found, TEST, {"person": member_of(request).user.display_name})
        messages.success(request, "A test message is on its way. Its row shows the answer.")
    elif act in {"on", "off"}:
        found.is_active = act == "on"
        found.save(update_fields=["is_active"])
        messages.success(request, f"The webhook is {act}.")
    else:
        messages.error(request, "Choose an action of this page.")
    return see_other("webhooks:webhook", found.pk)


def _list(request: HttpRequest, form: WebhookForm, status: int = 200) -> HttpResponse:
    team = member_of(request).team
    latest = [(each, each.deliveries.order_by("-pk").first()) for each in team.webhooks.order_by("pk")]
    return render(request, "webhooks/webhooks.html", {"form": form, "webhooks": latest}, status=status)


def _page(request: HttpRequest, webhook: Webhook, secret: str = "") -> HttpResponse:
    deliveries = Delivery.objects.filter(webhook=webhook)
    context = {
        "webhook": webhook,
        "secret": secret,
        "deliveries": deliveries.order_by("-pk")[:SHOWN],
        "count": deliveries.count(),
        "shown": SHOWN,
        "now": timezone.now(),
    }
    return render(request, "webhooks/webhook.html", context)


app_name = "webhooks"
urlpatterns = [path("", webhooks, name="webhooks"), path("<int:webhook_id>/", webhook, name="webhook")]
