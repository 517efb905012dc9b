"""Addresses of the help. Everybody may read it, signed in or not."""

from __future__ import annotations

from django.urls import path

from chainviz.accounts.permissions import requires
from chainviz.help import views

app_name = "help"
urlpatterns = [
    path("", requires("public")(views.index), name="index"),
    path("<slug:name>/", requires("public")(views.help_page), name="page"),
]
