"""Every setting of the application, and the one place that reads CHAINVIZ_… environment variables.

Importing this needs no Django, so that commands which only want an endpoint or a folder can use `CHAINVIZ` too.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from chainviz.core.errors import OptionsError, value_error
from chainviz.core.usage.model_catalog import read_overrides
from chainviz.locations import ASSETS, database, default_data_folder, secret_key


class Environment(BaseSettings):
    """The settings that a person can set. The help shows their descriptions and defaults as a table."""

    model_config = SettingsConfigDict(env_prefix="CHAINVIZ_", env_ignore_empty=True, frozen=True)

    mode: Literal["local", "team"] = Field(
        default="local", description="`local`: one owner, this machine only. `team`: accounts and roles, see [Team mode](team.md)."
    )
    port: int = Field(default=8000, ge=1, le=65535, description="The port to listen on.")
    host: str = Field(default="127.0.0.1", description="The address to listen on; in local mode, a loopback address.")
    data: Path = Field(
        default=default_data_folder(),
        description="The folder for the database, the secret key and prepared files.",
        json_schema_extra={"default_text": "`data` in a checkout, else the folder for the person's application data"},
    )
    database_url: str = Field(
        default="",
        description="`postgresql://user@host/name`, or `sqlite:///` and a path.",
        json_schema_extra={"default_text": "SQLite in the data folder"},
    )
    base_url: str = Field(
        default="",
        validate_default=True,
        description="The address that people open, such as `https://chainviz.example.org`. Required in team mode.",
    )
    trusted_proxies: str = Field(
        default="", description="Addresses or networks of reverse proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted."
    )
    folders: str = Field(
        default="", description="Team mode: folders on the server, separated as in `PATH`. The owners of every team can open their files."
    )
    discovery: bool = Field(
        default=True,
        description="Local mode: whether chainviz looks for the sessions of agents on this machine. Names only, until you choose.",
    )
    max_upload_mb: int = Field(default=1000, ge=1, description="The largest file that is accepted, in MB.")
    log: Literal["text", "json"] = Field(
        default="text",
        description="`json`: one line of JSON on standard error for each log record and each request, with its `X-Request-ID`.",
    )
    models: str = Field(
        default="", description="A JSON file with your own context windows and prices, see [Models and prices](#models-and-prices)."
    )
    llm_base_url: str = Field(
        default="",
        description="An OpenAI-compatible endpoint that writes summaries, such as `http://127.0.0.1:11434/v1` for Ollama. "
        "In team mode, the team's rules must allow it.",
    )
    llm_api_key: str = Field(default="", description="The API key of this endpoint, if it needs one.")
    llm_model: str = Field(default="", description="The model that writes summaries.")
    llm_concurrency: int = Field(default=4, ge=1, description="How many summaries are requested at the same time.")
    llm_seconds: int = Field(default=600, ge=1, description="How many seconds one prompt may take, including retries.")
    mail_url: str = Field(
        default="",
        description="Team mode: the mail server that sends notifications to those who want them, such as "
        "`smtp://user:password@mail.example.org:587`. Mails contain no text of a transcript.",
    )
    mail_from: str = Field(default="chainviz@localhost", description="The sender of these mails.")
    metrics_token: str = Field(
        default="",
        description="Team mode: the token with which Prometheus may read `/metrics`, at least 16 characters, see "
        "[Metrics](deployment.md#metrics).",
    )
    webhook_networks: str = Field(
        default="",
        description="Team mode: addresses or networks inside your own network that [webhooks](webhooks.md) may reach, such as "
        "`10.0.8.0/24`. Without it they reach public addresses only.",
    )
    oidc_issuer: str = Field(
        default="", description="Team mode: the address of an OpenID Connect provider, see [Single sign-on](team.md#single-sign-on)."
    )
    oidc_client_id: str = Field(default="", validate_default=True, description="The client id that the provider gave to chainviz.")
    oidc_client_secret: str = Field(default="", description="The client secret.")
    oidc_client_secret_file: str = Field(default="", description="A file that contains the client secret.")
    oidc_name: str = Field(default="single sign-on", max_length=40, description="The provider's name on the button “Sign in with …”.")

    @field_validator("base_url")
    @classmethod
    def origin(cls, url: str, given: ValidationInfo) -> str:
        """Team mode accepts requests for this host only, and needs to know whether people use HTTPS."""
        if not url and given.data.get("mode") != "team":
            return url
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/") or parts.query:
            raise ValueError("team mode needs the address that people open, such as https://chainviz.example.org")
        return url.rstrip("/")

    @field_validator("trusted_proxies", "webhook_networks")
    @classmethod
    def networks(cls, text: str) -> str:
        for each in _words(text):
            try:
                ip_network(each)
            except ValueError:
                raise ValueError(f"“{each}” is not an IP address or network") from None
        return text

    @field_validator("metrics_token")
    @classmethod
    def long_token(cls, token: str) -> str:
        if token and (len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token):
            raise ValueError("use at least 16 characters, such as those that `openssl rand -hex 24` prints")
        return token

    @field_validator("host")
    @classmethod
    def only_loopback(cls, host: str, given: ValidationInfo) -> str:
        """Local mode signs in everybody who opens the page, so only its owner may be able to reach it."""
        if given.data.get("mode") != "team" and host != "localhost" and not _is_loopback(host):
            raise ValueError("local mode listens on this machine only: use 127.0.0.1, ::1 or localhost")
        return host

    @field_validator("mail_url")
    @classmethod
    def mail_server(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and (parts.scheme not in {"smtp", "smtps"} or not parts.hostname):
            raise ValueError("name the mail server, such as smtp://user:password@mail.example.org:587")
        return url

    @field_validator("oidc_issuer")
    @classmethod
    def issuer(cls, url: str) -> str:
        parts = urlsplit(url)
        if not url:
            return url
        if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(parts.hostname or "")):
            raise ValueError("an issuer begins with https://")
        if find_spec("allauth") is None:
            raise ValueError('sign-in with a provider needs an extra: pip install "chainviz[oidc]"')
        return url

    @field_validator("oidc_client_id")
    @classmethod
    def client(cls, name: str, given: ValidationInfo) -> str:
        if given.data.get("oidc_issuer") and not name:
            raise ValueError("name the client that the provider knows this application by")
        return name

    @field_validator("oidc_client_secret_file")
    @classmethod
    def readable_secret(cls, path: str) -> str:
        try:
            if path:
                Path(path).read_text()
        except OSError as error:
            raise ValueError(f"the file cannot be read: {error.strerror}") from None
        return path

    @field_validator("models")
    @classmethod
    def readable_models(cls, path: str) -> str:
        try:
            read_overrides(path)
        except OptionsError as error:
            raise ValueError(str(error)) from None
        return path

    @field_validator("data")
    @classmethod
    def absolute(cls, folder: Path) -> Path:
        return folder.expanduser().resolve()

    @property
    def folder_paths(self) -> tuple[Path, ...]:
        """The folders from which owners may open files in team mode."""
        return tuple(Path(each).expanduser().absolute() for each in self.folders.split(os.pathsep) if each)

    @property
    def has_oidc(self) -> bool:
        return self.mode == "team" and bool(self.oidc_issuer)

    @property
    def oidc_secret(self) -> str:
        file = self.oidc_client_secret_file
        return Path(file).read_text().strip() if file else self.oidc_client_secret

    @property
    def proxy_networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        return tuple(ip_network(each) for each in _words(self.trusted_proxies))

    @property
    def webhook_network_list(self) -> tuple[IPv4Network | IPv6Network, ...]:
        return tuple(ip_network(each) for each in _words(self.webhook_networks))


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


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
            sys.stderr.write(f"{name}={wrong['input']}: {value_error(wrong)}.\n")
        raise SystemExit(2) from None


CHAINVIZ = read_environment()


SECRET_KEY = secret_key(CHAINVIZ.data)
DEBUG = False
SITE = urlsplit(CHAINVIZ.base_url)
IS_HTTPS = SITE.scheme == "https"
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *([SITE.hostname] if SITE.hostname else [])]
ROOT_URLCONF = "chainviz.urls"
WSGI_APPLICATION = "chainviz.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "chainviz.accounts.forms.PasswordPatternValidator"},
]
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
    "chainviz.webhooks",
    "chainviz.sessions_index",
    "chainviz.chains",
    "chainviz.recipes",
    "chainviz.drafts",
    "chainviz.review",
    "chainviz.bulk",
]

MIDDLEWARE = [
    "chainviz.web.middleware.TrustedProxyMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "chainviz.web.middleware.RequestLogMiddleware",
    "chainviz.web.middleware.NoStoreMiddleware",
    "chainviz.web.middleware.JsonErrorsMiddleware",
    "chainviz.web.middleware.UploadLimitMiddleware",
    "chainviz.web.middleware.UploadsAtOnceMiddleware",
    "chainviz.web.middleware.PagesAtOnceMiddleware",
    "chainviz.web.middleware.MethodPageMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "chainviz.accounts.audit.AuditMiddleware",
    "chainviz.accounts.middleware.MemberMiddleware",
    "chainviz.drafts.stored_draft.DraftGoneMiddleware",
    "chainviz.chains.page_jobs.PageJobMiddleware",
    "chainviz.review.csv_and_jsonl.ExportLockMiddleware",
]

# Of sign-in with an OpenID Connect provider. The tables of these apps are never made.
OIDC_APPS = ["allauth", "allauth.account", "allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"]
OIDC_MIDDLEWARE = ["allauth.account.middleware.AccountMiddleware"]
MIGRATION_MODULES = {"account": None, "socialaccount": None}
if CHAINVIZ.has_oidc:
    INSTALLED_APPS += OIDC_APPS
    MIDDLEWARE += OIDC_MIDDLEWARE

TEMPLATES = [
    {
        "BACKEND": "chainviz.web.template_engine.TranscriptTemplates",
        "NAME": "django",
        "DIRS": [ASSETS / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    ["chainviz.web.template_engine.OneLineLoader", "django.template.loaders.app_directories.Loader"],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "chainviz.web.context.site",
                "chainviz.help.places.help_page",
            ],
            "builtins": ["chainviz.web.templatetags.chainviz", "django.templatetags.static"],
        },
    }
]

DATABASES = {"default": database(CHAINVIZ.database_url, CHAINVIZ.data)}

# Functions that jobs call. Rows of jobs hold the name: it stays when the function moves.
JOBS = {
    "scan-sessions": "chainviz.sessions_index.services.scan_sessions",
    "import-file": "chainviz.chains.uploads.arrivals.take_in_job",
    "read-local-file": "chainviz.chains.folders.opening.read_job",
    "rebuild-outline": "chainviz.chains.page_jobs.rebuild",
    "compare-versions": "chainviz.chains.diff.compare.compare_by_job",
    "compare-runs": "chainviz.chains.diff.runs.compare_runs_by_job",
    "compare-files": "chainviz.chains.diff.files.compare_files_by_job",
    "index-library": "chainviz.chains.library.search.index_library",
    "judge-again": "chainviz.chains.versions.heads.judge_again",
    "scan-chain": "chainviz.chains.secrets.scans.scan_content",
    "scan-own-patterns": "chainviz.chains.secrets.scans.scan_for_own",
    "scan-library": "chainviz.chains.secrets.scans.scan_library",
    "scan-file": "chainviz.chains.secrets.files.scan_file",
    "read-observations": "chainviz.chains.observations.index_job.read_by_job",
    "plan-observations": "chainviz.drafts.operations.observations.summary.plan_content",
    "read-first-page": "chainviz.drafts.operations.choices.read",
    "propose-repairs": "chainviz.drafts.operations.repair.repair_choices.read_content",
    "simulate-strategies": "chainviz.drafts.simulation.run.simulate_content",
    "run-strategy": "chainviz.drafts.operations.compact.run.run_content",
    "run-operation": "chainviz.drafts.operations.run.run_operation",
    "run-recipe": "chainviz.drafts.operations.recipe.run_by_job",
    "write-summaries": "chainviz.drafts.summaries.job.write_pieces",
    "bulk": "chainviz.bulk.job.run_rows",
    "make-certificate": "chainviz.review.certificates.certify",
    "deliver-webhook": "chainviz.webhooks.sending.deliver",
    "send-mail": "chainviz.review.notices.send",
    "count-before-purge": "chainviz.purge.jobs.look",
    "purge": "chainviz.purge.jobs.purge",
}

# Says why content of a chain may not leave as a file.
EXPORT_LOCK = "chainviz.review.csv_and_jsonl.locked_reason"

# Says whether a team forbids share links to versions with secrets (chains/shares/share_links.py).
SHARED_SECRETS_FORBIDDEN = "chainviz.review.models.requests.forbids_secrets"

# Says whether the texts of a team may be sent to the language model of the installation (drafts/summaries/runs.py).
WRITERS_ALLOWED = "chainviz.review.models.requests.allows_external_writers"

# What the explorer shows on its rows beside the chain (chains/explorer/row_notes.py).
ROW_NOTES = "chainviz.review.threads.notes.notes_in"

# What people wrote about a chain: the scan of the library looks through it (chains/secrets/scans.py).
WRITTEN_TEXTS = "chainviz.review.csv_and_jsonl.texts_of"

# What people of a team keep for all its chains, likewise.
TEAM_TEXTS = "chainviz.recipes.services.texts_of"

# The strategies of compaction that a person saved, for the form of a step (recipes/step_form.py).
SAVED_STRATEGIES = "chainviz.drafts.operations.presets.saved_strategies"

# Gives what the owner of local mode said the name of the account they become (accounts/members.py).
OWNER_NAMED = "chainviz.review.csv_and_jsonl.rename"

# Starts the jobs that wait until nobody waits for another one.
WHEN_IDLE = ["chainviz.sessions_index.services.go_on_where_unread", "chainviz.chains.library.search.start_if_needed"]

# Functions that every worker calls once an hour.
CHORES = [
    "chainviz.drafts.services.collect_discarded",
    "chainviz.chains.uploads.arrivals.clear_orphans",
    "chainviz.chains.working_copies.kept.collect",
    "chainviz.bulk.job.forget_unstarted",
    "chainviz.chains.secrets.scans.forget_patterns",
    "chainviz.accounts.middleware.forget_old",
    "chainviz.webhooks.sending.forget_old",
]

MAIL = urlsplit(CHAINVIZ.mail_url)
EMAIL_HOST, EMAIL_USE_SSL = MAIL.hostname or "", MAIL.scheme == "smtps"
EMAIL_PORT = MAIL.port or (465 if EMAIL_USE_SSL else 587)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = unquote(MAIL.username or ""), unquote(MAIL.password or "")
EMAIL_USE_TLS = bool(MAIL.username) and not EMAIL_USE_SSL
EMAIL_TIMEOUT = 30
DEFAULT_FROM_EMAIL = CHAINVIZ.mail_from

STATIC_URL = "/static/"
STATICFILES_DIRS = [ASSETS / "static"]
STATIC_ROOT = CHAINVIZ.data / "static"
# every file in the data folder is for the person who runs the server only
FILE_UPLOAD_PERMISSIONS = 0o600
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "chainviz.web.template_engine.HashedStaticStorage"},
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
CSRF_COOKIE_SECURE = SESSION_COOKIE_SECURE = SECURE_SSL_REDIRECT = IS_HTTPS
# Else a request for another host is refused while it is sent to HTTPS, by an answer without security headers.
SECURE_SSL_HOST = SITE.netloc if IS_HTTPS else None
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz)$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if IS_HTTPS else 0
if CHAINVIZ.trusted_proxies:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
X_FRAME_OPTIONS = "DENY"
# Other hosts below the same name, and lists inside browsers, are not for this application to decide on.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
# One sentence for the next page, such as "Version 6 is saved": in a cookie, so that no session is written.
MESSAGE_STORAGE = "django.contrib.messages.storage.cookie.CookieStorage"
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 1024 * 1024
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "chainviz.web.logs.TextFormatter", "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "chainviz.web.logs.JsonFormatter"},
    },
    "filters": {"without-path": {"()": "chainviz.web.middleware.PathFilter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": CHAINVIZ.log, "filters": ["without-path"]}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {"chainviz.requests": {"level": "INFO" if CHAINVIZ.log == "json" else "WARNING"}},
}
