"""Keys whose issuer gave them a form of their own. One row a form: a new issuer is a new row and its two tests."""

from __future__ import annotations

import re

from chainviz.core.secrets.checks import is_filled, is_random
from chainviz.core.secrets.rule import Anchored, Rule

_FORMS = (
    # name, label, public prefix, what follows it
    ("anthropic-key", "Anthropic key", r"sk-ant-", r"[A-Za-z0-9_-]{20,}"),
    ("openrouter-key", "OpenRouter key", r"sk-or-v1-", r"[0-9a-f]{32,}"),
    ("langfuse-key", "Langfuse key", r"sk-lf-", r"[0-9a-f-]{32,}"),
    ("openai-key", "OpenAI key", r"sk-(?:proj-|svcacct-|admin-|None-)?", r"(?=[A-Za-z_-]{0,80}[0-9])[A-Za-z0-9_-]{20,}"),
    ("aws-access-key-id", "AWS access key id", r"(?:AKIA|ASIA|ABIA|ACCA)", r"[A-Z2-7]{16}"),
    ("google-api-key", "Google API key", r"AIza", r"[A-Za-z0-9_-]{35}"),
    ("google-oauth-secret", "Google OAuth secret", r"GOCSPX-", r"[A-Za-z0-9_-]{20,}"),
    ("google-oauth-token", "Google OAuth token", r"ya29\.", r"[A-Za-z0-9_-]{20,}"),
    ("github-token", "GitHub token", r"gh[pousr]_", r"[A-Za-z0-9]{30,}"),
    ("github-pat", "GitHub fine-grained token", r"github_pat_", r"[A-Za-z0-9_]{30,}"),
    ("gitlab-token", "GitLab token", r"gl(?:pat|ptt|rt|dt|cbt|oas)-", r"[A-Za-z0-9_-]{18,}"),
    ("slack-token", "Slack token", r"xox[abeoprs]-", r"[A-Za-z0-9-]{10,}"),
    ("slack-app-token", "Slack app token", r"xapp-", r"[A-Za-z0-9-]{20,}"),
    ("slack-webhook", "Slack webhook", r"https://hooks\.slack\.com/(?:services|workflows|triggers)/", r"[A-Za-z0-9/]{20,}"),
    ("stripe-key", "Stripe key", r"[sr]k_(?:live|test)_", r"[A-Za-z0-9]{16,}"),
    ("stripe-webhook-secret", "Stripe webhook secret", r"whsec_", r"[A-Za-z0-9+/=]{24,}"),
    ("twilio-key", "Twilio key", r"SK(?=[0-9a-f]{32}\b)", r"[0-9a-f]{32}"),
    ("sendgrid-key", "SendGrid key", r"SG\.", r"[A-Za-z0-9_-]{16,24}\.[A-Za-z0-9_-]{32,50}"),
    ("mailgun-key", "Mailgun key", r"key-(?=[0-9a-f]{32}\b)", r"[0-9a-f]{32}"),
    ("hugging-face-token", "Hugging Face token", r"hf_", r"[A-Za-z0-9]{30,}"),
    ("npm-token", "npm token", r"npm_", r"[A-Za-z0-9]{36}"),
    ("pypi-token", "PyPI token", r"pypi-AgE", r"[A-Za-z0-9_-]{40,}"),
    ("digitalocean-token", "DigitalOcean token", r"do[opr]_v1_", r"[0-9a-f]{64}"),
    ("databricks-token", "Databricks token", r"dapi(?=[0-9a-f]{32})", r"[0-9a-f]{32}(?:-\d)?"),
    ("telegram-bot-token", "Telegram bot token", r"\d{8,10}:AA", r"[A-Za-z0-9_-]{32,34}"),
    ("discord-token", "Discord token", r"[MNO](?=[A-Za-z0-9_-]{23,25}\.)", r"[A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}"),
    ("groq-key", "Groq key", r"gsk_", r"[A-Za-z0-9]{40,}"),
    ("xai-key", "xAI key", r"xai-", r"[A-Za-z0-9]{40,}"),
    ("replicate-token", "Replicate token", r"r8_", r"[A-Za-z0-9]{37}"),
    ("perplexity-key", "Perplexity key", r"pplx-", r"[A-Za-z0-9]{40,}"),
    ("langsmith-key", "LangSmith key", r"lsv2_(?:pt|sk)_", r"[0-9a-f_]{40,}"),
    ("tavily-key", "Tavily key", r"tvly-", r"[A-Za-z0-9-]{20,}"),
    ("notion-token", "Notion token", r"(?:ntn_|secret_(?=[A-Za-z0-9]{43}\b))", r"[A-Za-z0-9]{40,}"),
    ("linear-key", "Linear key", r"lin_(?:api|oauth)_", r"[A-Za-z0-9]{32,}"),
    ("shopify-token", "Shopify token", r"shp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}"),
    ("vault-token", "Vault token", r"hv[sbr]\.", r"[A-Za-z0-9_-]{24,}"),
    ("docker-token", "Docker token", r"dckr_(?:pat|oat)_", r"[A-Za-z0-9_-]{20,}"),
    ("grafana-token", "Grafana token", r"glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    ("sentry-token", "Sentry token", r"sntry[su]_", r"[A-Za-z0-9+/=_-]{40,}"),
    ("postman-key", "Postman key", r"PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("figma-token", "Figma token", r"fig[doru]_", r"[A-Za-z0-9_-]{30,}"),
    ("supabase-token", "Supabase token", r"sbp_(?:v0_)?", r"[0-9a-f]{40}"),
    ("age-key", "age key", r"AGE-SECRET-KEY-1", r"[0-9A-Z]{50,}"),
)  # fmt: skip

_WORDS = {
    "openai-key": ("sk-",), "aws-access-key-id": ("AKIA", "ASIA", "ABIA", "ACCA"),
    "github-token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "gitlab-token": ("glpat-", "glptt-", "glrt-", "gldt-", "glcbt-", "gloas-"), "slack-token": ("xox",),
    "slack-webhook": ("https://hooks.slack.com/",),
    "stripe-key": ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), "twilio-key": ("SK",), "mailgun-key": ("key-",),
    "digitalocean-token": ("dop_v1_", "doo_v1_", "dor_v1_"), "databricks-token": ("dapi",),
    "langsmith-key": ("lsv2_",), "notion-token": ("ntn_", "secret_"), "linear-key": ("lin_",),
    "shopify-token": ("shpat_", "shpca_", "shppa_", "shpss_"), "vault-token": ("hvs.", "hvb.", "hvr."),
    "docker-token": ("dckr_",), "sentry-token": ("sntry",), "figma-token": ("figd_", "figo_", "figr_", "figu_"),
    "supabase-token": ("sbp_",),
}  # fmt: skip
"""What the keys begin with where the prefix is no plain text."""

_HINTS = {"telegram-bot-token": (":AA",), "discord-token": (".",)}
"""Forms that begin with no word of their own."""

_RANDOM = frozenset(
    ("openai-key", "slack-app-token", "tavily-key", "hugging-face-token", "discord-token", "supabase-token")
)
"""Forms that words could fill too."""


def _rule(name: str, label: str, prefix: str, body: str) -> Rule:
    text = rf"(?<![A-Za-z0-9_-]){prefix}{body}(?![A-Za-z0-9_])"
    plain = prefix.replace("\\", "")
    check = is_random if name in _RANDOM else is_filled
    if name in _HINTS:
        return Rule(name, label, "secret", re.compile(text, re.ASCII), _HINTS[name], check)
    head = 0 if name in _WORDS else len(plain)
    return Rule(name, label, "secret", Anchored(_WORDS.get(name, (plain,)), text), (), check, head=head)


PROVIDER_KEYS: tuple[Rule, ...] = tuple(_rule(*form) for form in _FORMS)
