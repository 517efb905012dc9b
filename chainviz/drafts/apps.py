from __future__ import annotations

from django.apps import AppConfig


class DraftsConfig(AppConfig):
    name = "chainviz.drafts"
