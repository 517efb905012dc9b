from __future__ import annotations

from django.apps import AppConfig


class ChainsConfig(AppConfig):
    name = "chainviz.chains"
