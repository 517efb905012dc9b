"""Addresses of bulk runs."""

from __future__ import annotations

from django.urls import path

from chainviz.bulk import views

app_name = "bulk"

urlpatterns = [
    path("", views.runs, name="runs"),
    path("<int:bulk_id>/", views.run, name="run"),
    path("<int:bulk_id>/chains.zip", views.download, name="download"),
]
