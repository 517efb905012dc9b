"""Addresses of the review of a chain: its threads, its page, and what the page's forms do."""

from __future__ import annotations

from django.urls import path

from chainviz.review.requests import view as requests
from chainviz.review.sign_off import rules_view
from chainviz.review.threads import list_view

app_name = "review"

REVIEW = "c/<int:chain_id>/review/"

urlpatterns = [
    path("c/<int:chain_id>/threads/", list_view.threads, name="threads"),
    path("team/rules/", rules_view.rules, name="rules"),
    path(REVIEW, requests.review, name="review"),
    path(f"{REVIEW}request/", requests.request_review, name="request"),
    path(f"{REVIEW}verdict/", requests.give_verdict, name="verdict"),
    path(f"{REVIEW}verdict/<int:verdict_id>/dismiss/", requests.dismiss, name="dismiss"),
    path("c/<int:chain_id>/v/<int:number>/section/<int:section>/viewed/", requests.viewed, name="viewed"),
]
