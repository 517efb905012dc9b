from __future__ import annotations

from django.apps import AppConfig


class BulkConfig(AppConfig):
    name = "chainviz.bulk"
