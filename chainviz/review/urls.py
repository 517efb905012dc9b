"""Addresses of the review of a chain: its threads, its page, and what the page's forms do."""

from __future__ import annotations

from django.urls import path

from chainviz.review import certificate_pages as certificates
from chainviz.review import inbox as inbox
from chainviz.review import label_pages as labels
from chainviz.review import panel, sign_off
from chainviz.review import panel as presence
from chainviz.review.requests import review_acts as requests
from chainviz.review.threads import views
from chainviz.review.threads import views as threads

app_name = "review"

REVIEW = "c/<int:chain_id>/review/"
THREADS = "c/<int:chain_id>/threads/"

urlpatterns = [
    path("team/rules/", sign_off.rules, name="rules"),
    path(THREADS, views.threads, name="threads"),
    path(f"{THREADS}<int:number>/", threads.thread, name="thread"),
    path(f"{THREADS}pending/", threads.pending, name="pending"),
    path(f"{THREADS}suggestions/", views.take, name="suggestions"),
    path("c/<int:chain_id>/v/<int:number>/comment/", threads.new, name="new_thread"),
    path("c/<int:chain_id>/comments/<int:comment_id>/", threads.comment, name="comment"),
    path("c/<int:chain_id>/comments/<int:comment_id>/edit/", threads.edit_comment, name="edit_comment"),
    path("c/<int:chain_id>/comments/<int:comment_id>/delete/", threads.delete_comment, name="delete_comment"),
    path("c/<int:chain_id>/mentions/", threads.mentions, name="mentions"),
    path("inbox/", inbox.inbox, name="inbox"),
    path("inbox/count/", inbox.count, name="inbox_count"),
    path("inbox/read/", inbox.read_all, name="read_all"),
    path("inbox/mail/", inbox.choose_mail, name="mail"),
    path("inbox/<int:notice_id>/", inbox.open_notice, name="open_notice"),
    path("c/<int:chain_id>/activity/", requests.activity, name="activity"),
    path("c/<int:chain_id>/mute/", inbox.mute, name="mute"),
    path("c/<int:chain_id>/presence/", presence.presence, name="presence"),
    path("c/<int:chain_id>/labels/", labels.labels, name="labels"),
    path("c/<int:chain_id>/labels/<int:label_id>/remove/", labels.take_away, name="unlabel"),
    path("labels/labels.<slug:kind>", labels.labels_export, name="labels_export"),
    path("labels/comments.<slug:kind>", views.comments_export, name="comments_export"),
    path("c/<int:chain_id>/v/<int:number>/certify/", certificates.certify, name="certify"),
    path("certificates/<int:certificate>/", certificates.certificate, name="certificate"),
    path("sign-offs/<int:sign_off>/", sign_off.sign_off_record, name="record"),
    path(f"{REVIEW}sign-off/", sign_off.sign_off, name="sign_off"),
    path(REVIEW, requests.review, name="review"),
    path(f"{REVIEW}request/", requests.request_review, name="request"),
    path(f"{REVIEW}secrets/", requests.search_secrets, name="search_secrets"),
    path(f"{REVIEW}verdict/", requests.give_verdict, name="verdict"),
    path(f"{REVIEW}verdict/<int:verdict_id>/dismiss/", requests.dismiss, name="dismiss"),
    path("c/<int:chain_id>/v/<int:number>/review/panel/", panel.review_panel, name="panel"),
    path("c/<int:chain_id>/v/<int:number>/threads/step/", panel.thread_step, name="thread_step"),
    path("c/<int:chain_id>/v/<int:number>/section/<int:section>/viewed/", requests.viewed, name="viewed"),
]
