"""Addresses of the review of a chain: its threads."""

from __future__ import annotations

from django.urls import path

from chainviz.review.threads import list_view

app_name = "review"

urlpatterns = [
    path("c/<int:chain_id>/threads/", list_view.threads, name="threads"),
]
