"""Every setting of the application, and the one place that reads CHAINVIZ_… environment variables.

Importing this needs no Django, so that commands which only want an endpoint or a folder can use `CHAINVIZ` too.
"""

from __future__ import annotations

import os
import sys
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from chainviz.locations import ASSETS, database, default_data_folder, secret_key


class Environment(BaseSettings):
    """What a person may set from outside; the table in README.md says what each one means."""

    model_config = SettingsConfigDict(env_prefix="CHAINVIZ_", env_ignore_empty=True, frozen=True)

    port: int = Field(default=8000, ge=1, le=65535)
    host: str = "127.0.0.1"
    data: Path = default_data_folder()
    database_url: str = ""
    mode: Literal["local", "team"] = "local"
    llm_base_url: str = ""
    llm_api_key: str = ""
    llm_model: str = ""
    llm_concurrency: int = Field(default=4, ge=1)
    llm_seconds: int = Field(default=600, ge=1)
    max_upload_mb: int = Field(default=1000, ge=1)

    @field_validator("mode")
    @classmethod
    def only_local(cls, mode: str) -> str:
        if mode == "team":
            raise ValueError(
                "team mode is not built yet; leave CHAINVIZ_MODE unset to run for yourself on this machine"
            )
        return mode

    @field_validator("host")
    @classmethod
    def only_loopback(cls, host: str) -> str:
        """Local mode signs in whoever opens the page, so nobody else may reach it."""
        if host != "localhost" and not _is_loopback(host):
            raise ValueError("local mode listens on this machine only: use 127.0.0.1, ::1 or localhost")
        return host

    @field_validator("data")
    @classmethod
    def absolute(cls, folder: Path) -> Path:
        return folder.expanduser().resolve()


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def read_environment() -> Environment:
    try:
        return Environment()
    except ValidationError as error:
        for wrong in error.errors():
            name = "CHAINVIZ_" + str(wrong["loc"][0]).upper()
            sys.stderr.write(f"{name}={wrong['input']}: {wrong['msg'].removeprefix('Value error, ')}\n")
        raise SystemExit(2) from None


CHAINVIZ = read_environment()

# The name is the one that agents use for the same switch; core says what its values mean.
STREAM_REDACTION_ENABLED = os.environ.get("STREAM_REDACTION_ENABLED")

SECRET_KEY = secret_key(CHAINVIZ.data)
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
ROOT_URLCONF = "chainviz.urls"
WSGI_APPLICATION = "chainviz.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.User"
LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = "UTC"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "chainviz.store",
    "chainviz.web",
    "chainviz.accounts",
    "chainviz.jobs",
    "chainviz.chains",
    "chainviz.drafts",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "chainviz.web.middleware.upload_limit.UploadLimitMiddleware",
    "chainviz.web.middleware.method_page.MethodPageMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "chainviz.accounts.middleware.LocalOwnerMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ASSETS / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "chainviz.web.context.site",
            ],
            "builtins": ["chainviz.web.templatetags.chainviz", "django.templatetags.static"],
        },
    },
]

DATABASES = {"default": database(CHAINVIZ.database_url, CHAINVIZ.data)}

# Functions that jobs call. Rows of jobs hold the name: it stays when the function moves.
JOBS = {
    "import-file": "chainviz.chains.uploads.arrivals.take_in_job",
    "scan-chain": "chainviz.chains.secrets.scans.scan_content",
    "scan-own-patterns": "chainviz.chains.secrets.scans.scan_for_own",
    "scan-library": "chainviz.chains.secrets.scans.scan_library",
    "scan-file": "chainviz.chains.secrets.files.scan_file",
    "propose-repairs": "chainviz.drafts.operations.repair.reading_job.read_content",
    "run-operation": "chainviz.drafts.operations.job.carry_out",
    "redact": "chainviz.drafts.operations.redact.job.redact_content",
    "mask": "chainviz.drafts.operations.mask.job.mask_content",
    "write-summaries": "chainviz.drafts.summaries.job.write_pieces",
    "count-before-purge": "chainviz.purge.jobs.look",
    "purge": "chainviz.purge.jobs.purge",
}

STATIC_URL = "/static/"
STATICFILES_DIRS = [ASSETS / "static"]
STATIC_ROOT = CHAINVIZ.data / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "chainviz.web.static.HashedStaticStorage"},
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
SECURE_REFERRER_POLICY = "no-referrer"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
CSRF_FAILURE_VIEW = "chainviz.web.errors.csrf_failure"
# Cookies of one host are shared by all its ports: other local applications must not overwrite ours.
CSRF_COOKIE_NAME = "chainviz_csrf"
CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = "chainviz_session"
SESSION_COOKIE_SAMESITE = "Lax"
# One sentence for the next page, such as "Version 6 is saved": in a cookie, so that no session is written.
MESSAGE_STORAGE = "django.contrib.messages.storage.cookie.CookieStorage"
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 1024 * 1024
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
