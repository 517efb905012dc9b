from __future__ import annotations

from django.apps import AppConfig


class StoreConfig(AppConfig):
    name = "chainviz.store"
    label = "store"
