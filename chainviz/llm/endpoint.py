"""The model that writes summaries, and the limits of patience with it. Set in the installation, never by a chain or a
visitor."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Protocol
from urllib.parse import urlsplit

from chainviz.core.usage.model_catalog import Models, read_overrides
from chainviz.core.usage.recorded import TokenUsage


class Configured(Protocol):
    """The application's settings, as far as they concern a model."""

    @property
    def llm_base_url(self) -> str: ...
    @property
    def llm_api_key(self) -> str: ...
    @property
    def llm_model(self) -> str: ...
    @property
    def llm_concurrency(self) -> int: ...
    @property
    def llm_seconds(self) -> int: ...
    @property
    def models(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An OpenAI-compatible server. Private addresses are fine: the operator chose them."""

    base_url: str = ""
    api_key: str = field(default="", repr=False)
    """The key; empty for servers without one, such as Ollama, vLLM and LM Studio."""
    model: str = ""
    concurrency: int = 4
    seconds: float = 600.0
    """The seconds for one prompt, from the first connection to the last word, including repeated attempts."""
    models: str = ""
    """The file with the person's own figures of models; "" if there is none."""
    refusal: str = ""
    """The reason why no model may be called, whatever is configured; empty if it may."""

    @classmethod
    def configured(cls, settings: Configured) -> Endpoint:
        return cls(
            base_url=settings.llm_base_url.strip(),
            api_key=settings.llm_api_key.strip(),
            model=settings.llm_model.strip(),
            concurrency=settings.llm_concurrency,
            seconds=settings.llm_seconds,
            models=settings.models,
        )

    @property
    def window(self) -> int:
        """The context window of the model in tokens; 0 if it is not known."""
        return _models(self.models).context_window(self.model) or 0 if self.model else 0

    def price(self, usage: TokenUsage) -> Decimal | None:
        """The list price of the model; None if it has none."""
        return _models(self.models).cost(self.model, usage)

    @property
    def host(self) -> str:
        """The part of the address that errors and labels may show."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def problem(self) -> str:
        """The reason why the model cannot be called with these settings; empty if they are fine."""
        if self.refusal:
            return self.refusal
        if not self.base_url:
            return "No model is set up: CHAINVIZ_LLM_BASE_URL is empty. Set it to an address such as http://127.0.0.1:11434/v1."
        if not _is_address(self.base_url):
            return "CHAINVIZ_LLM_BASE_URL is not an address such as http://127.0.0.1:11434/v1; correct it and restart."
        if "@" in urlsplit(self.base_url).netloc:
            return "CHAINVIZ_LLM_BASE_URL contains a password; put it in CHAINVIZ_LLM_API_KEY instead."
        if not self.model:
            return "No model is chosen: CHAINVIZ_LLM_MODEL is empty. Set it to a model that the server offers."
        if not (self.api_key.isascii() and self.api_key.isprintable()) or " " in self.api_key:
            # An HTTP library would refuse it too, in an error that quotes the key.
            return "CHAINVIZ_LLM_API_KEY contains a character that is not allowed in a key, such as a space or a line break."
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of an answer."""

    connect_seconds: float = 10.0
    retries: int = 2
    first_pause: float = 1.0
    """The pause before the second attempt if the server names none; it doubles with each further attempt."""
    wire_bytes: int = 16 * 1024 * 1024
    """The size of the answer as it is sent: a streamed token of four bytes takes about three hundred."""
    text_bytes: int = 1024 * 1024


@lru_cache(maxsize=4)
def _models(path: str) -> Models:
    return Models(read_overrides(path))


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0 and text.isprintable()
    except ValueError:
        return False
