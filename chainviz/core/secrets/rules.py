"""All rules of the product, in order of precedence: if two match the same characters, the first wins.

Keys have a form that their issuer defined; other secrets are recognised by their place, such as a header or an assignment.
"""

from __future__ import annotations

import re

from chainviz.core.secrets import rule
from chainviz.core.secrets.rule import Anchored, Rule, is_assigned, is_element, is_filled, is_login, is_random, is_real

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
    ("bedrock-key", "Amazon Bedrock key", r"ABSK", r"[A-Za-z0-9+/]{90,}={0,2}"),
    ("nvidia-key", "NVIDIA key", r"nvapi-", r"[A-Za-z0-9_-]{60,}"),
    ("cerebras-key", "Cerebras key", r"csk-", r"[a-z0-9]{40,}"),
    ("pinecone-key", "Pinecone key", r"pcsk_", r"[A-Za-z0-9_]{40,}"),
    ("elevenlabs-key", "ElevenLabs key", r"sk_(?=[0-9a-f]{48}\b)", r"[0-9a-f]{48}"),
    ("firecrawl-key", "Firecrawl key", r"fc-(?=[0-9a-f]{32}\b)", r"[0-9a-f]{32}"),
    ("e2b-key", "E2B key", r"e2b_", r"[0-9a-f]{40}"),
    ("azure-client-secret", "Azure client secret", r"[A-Za-z0-9_~.]{3}\dQ~", r"[A-Za-z0-9_~.-]{31,34}"),
    ("cloudflare-ca-key", "Cloudflare origin CA key", r"v1\.0-(?=[0-9a-f]{24}-)", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("terraform-token", "Terraform Cloud token", r"[A-Za-z0-9]{14}\.atlasv1\.", r"[A-Za-z0-9_=-]{60,70}"),
    ("airtable-token", "Airtable token", r"pat(?=[A-Za-z0-9]{14}\.)", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("atlassian-token", "Atlassian token", r"ATATT3xFfGF0", r"[A-Za-z0-9_=-]{50,}"),
    ("bitbucket-token", "Bitbucket token", r"ATCTT3xFfGN0", r"[A-Za-z0-9_=-]{50,}"),
    ("hubspot-token", "HubSpot token", r"pat-(?=(?:na|eu)\d-)", r"(?:na|eu)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("netlify-token", "Netlify token", r"nf[pcu]_", r"[A-Za-z0-9]{36,}"),
    ("heroku-key", "Heroku key", r"HRKU-AA", r"[A-Za-z0-9_-]{50,}"),
    ("doppler-token", "Doppler token", r"dp\.(?:pt|st|ct|sa)\.", r"[A-Za-z0-9._-]{40,}"),
    ("square-token", "Square token", r"(?:EAAA|sq0(?:csp|atp|idp)-)(?=[A-Za-z0-9_-]{22})", r"[A-Za-z0-9_-]{22,60}"),
    ("shippo-token", "Shippo token", r"shippo_(?:live|test)_", r"[0-9a-f]{40}"),
    ("brevo-key", "Brevo key", r"xkeysib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("resend-key", "Resend key", r"re_(?=[A-Za-z0-9]{8}_)", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    ("newrelic-key", "New Relic key", r"NRAK-", r"[A-Z0-9]{27}"),
    ("dynatrace-token", "Dynatrace token", r"dt0[a-z]01\.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("planetscale-token", "PlanetScale token", r"pscale_(?:tkn|pw|oauth)_", r"[A-Za-z0-9_.=-]{32,}"),
    ("rubygems-key", "RubyGems key", r"rubygems_", r"[0-9a-f]{48}"),
    ("crates-token", "crates.io token", r"cio(?=[A-Za-z0-9]{32}\b)", r"[A-Za-z0-9]{32}"),
    ("pulumi-token", "Pulumi token", r"pul-", r"[0-9a-f]{40}"),
    ("buildkite-token", "Buildkite token", r"bku[ao]_", r"[0-9a-f]{40}"),
    ("sonar-token", "SonarQube token", r"sq[pua]_", r"[0-9a-f]{40}"),
    ("discord-webhook", "Discord webhook", r"https://(?:\w{1,8}\.)?discord(?:app)?\.com/api/webhooks/", r"\d{17,20}/[A-Za-z0-9_-]{60,}"),
    ("teams-webhook", "Teams webhook", r"https://[a-z0-9-]{1,60}\.webhook\.office\.com/webhookb2/", r"[A-Za-z0-9@/-]{60,}"),
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
    "supabase-token": ("sbp_",), "elevenlabs-key": ("sk_",), "firecrawl-key": ("fc-",), "cloudflare-ca-key": ("v1.0-",),
    "airtable-token": ("pat",), "hubspot-token": ("pat-",), "netlify-token": ("nfp_", "nfc_", "nfu_"),
    "doppler-token": ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa."), "square-token": ("EAAA", "sq0csp-", "sq0atp-", "sq0idp-"),
    "shippo-token": ("shippo_",), "resend-key": ("re_",), "dynatrace-token": ("dt0",), "planetscale-token": ("pscale_",),
    "crates-token": ("cio",), "buildkite-token": ("bkua_", "bkuo_"), "sonar-token": ("sqp_", "squ_", "sqa_"),
    "discord-webhook": ("https://discord", "https://canary.discord", "https://ptb.discord"),
}  # fmt: skip
"""The beginnings of the keys whose prefix is not plain text."""

_HINTS = {
    "telegram-bot-token": (":AA",), "azure-client-secret": ("Q~",),
    "terraform-token": (".atlasv1.",), "teams-webhook": (".webhook.office.com/",),
}  # fmt: skip
"""Hints for forms that have no prefix of their own."""
_NEAR = {
    "discord-token": r"\.[a-z0-9_-]{6}\.[a-z0-9_-]{27}",
    "airtable-token": r"pat[a-z0-9]{14}\.",
    "square-token": "eaaa[a-z0-9_-]{22}|sq0",
}
"""What is searched for where there is no prefix, or where it is a part of many words."""

_RANDOM = frozenset(
    (
        "openai-key",
        "slack-app-token",
        "tavily-key",
        "discord-token",
        "supabase-token",
        "pinecone-key",
        "nvidia-key",
        "doppler-token",
        "planetscale-token",
        "square-token",
        "crates-token",
        "azure-client-secret",
        "resend-key",
    )
)
"""Forms that ordinary words could match too."""


def _rule(name: str, label: str, prefix: str, body: str) -> Rule:
    text = rf"(?<![A-Za-z0-9_-]){prefix}{body}(?![A-Za-z0-9_])"
    plain = prefix.replace("\\", "")
    check = is_random if name in _RANDOM else is_filled
    near = _NEAR.get(name, "")
    if name in _HINTS or (name not in _WORDS and near):
        return Rule(name, label, "secret", re.compile(text, re.ASCII), _HINTS.get(name, ()), near, check)
    head = 0 if name in _WORDS else len(plain)
    return Rule(name, label, "secret", Anchored(_WORDS.get(name, (plain,)), text), (), near, check, head=head)


PROVIDER_KEYS: tuple[Rule, ...] = tuple(_rule(*form) for form in _FORMS)


_QUOTES = r"""["'`\\]{0,4}"""
"""Quotation marks around a key or value, escaped or not."""
_BEGIN = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_HEADER_LINE = r"(?:[A-Za-z-]{2,20}: [^\n\\]{0,100}(?:\r?\n|\\r|\\n){1,2})"
_HEADERS = ("authorization", "x-api-key", "api-key", "x-auth-token", "cookie")
_SERVERS = ("server", "data source", "host", "endpoint", "accountname", "user id", "uid", "database", "initial catalog")
_NAMES = (
    "password", "passwd", "passphrase", "_pass", "-pass", "pwd", "secret", "token", "credential",
    *(f"{what}{join}key" for what in ("api", "access", "private", "encryption", "signing", "secret") for join in ("", "_", "-")),
)  # fmt: skip
"""A name that ends so holds a secret: db_password, clientSecret, OPENAI_API_KEY."""

CREDENTIALS: tuple[Rule, ...] = (
    Rule(
        "private-key", "Private key", "secret",
        Anchored(
            ("-----BEGIN ",),
            rf"{_BEGIN}(?:\s|\\r|\\n){{0,4}}{_HEADER_LINE}{{0,6}}[A-Za-z0-9+/=\s\\]{{16,20000}}(?:{_END})?",
        ),
    ),
    Rule(
        "jwt", "JSON Web Token", "secret",
        Anchored(("eyJ",), r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ),
    Rule(
        "url-credentials", "Password in an address", "secret",
        Anchored(("://",), r"""(?<=[A-Za-z0-9])://[^\s/:@"'<>\\]{0,100}:(?P<value>[^\s/@"'<>\\]{3,200})@"""),
        check=is_real, value="value",
    ),
    Rule(
        "connection-string", "Password in a connection string", "secret",
        Anchored(
            _SERVERS,
            r"""[a-z ]{3,16}=[^"'\n]{1,400}?;\s?(?:password|pwd|accountkey|sharedaccesskey)\s?=\s?(?P<value>[^;"'\s\\]{4,200})""",
            ignore_case=True,
        ),
        check=is_real, value="value",
    ),
    Rule(
        "authorization-header", "Authorization header", "secret",
        Anchored(
            _HEADERS,
            rf"[a-z-]{{6,13}}{_QUOTES}\s{{0,3}}[:=]\s{{0,3}}{_QUOTES}(?:(?:bearer|basic|token|apikey)\s{{1,3}})?"
            r"(?P<value>[A-Za-z0-9._~+/=-]{12,})",
            ignore_case=True,
        ),
        check=is_random, value="value",
    ),
    Rule(
        "bearer-token", "Bearer token", "secret",
        Anchored(("bearer",), r"\bbearer\s{1,3}(?P<value>[A-Za-z0-9._~+/-]{20,}=*)", ignore_case=True),
        check=is_random, value="value",
    ),
    Rule(
        "curl-password", "Password given to curl", "secret",
        Anchored(("curl ",), r"""\bcurl [^\n]{0,200}?(?:-u|--user)[ =]["']?[^\s:"'\\]{1,60}:(?P<value>[^\s"'\\]{3,100})"""),
        check=is_real, value="value",
    ),
    Rule(
        "assigned-secret", "Secret by its name", "secret",
        Anchored(
            _NAMES,
            rf"(?:{'|'.join(map(re.escape, _NAMES))})s?{_QUOTES}(?:\s{{0,3}}(?::=|=>|[:=])\s{{0,3}}|\sis\s){_QUOTES}"
            r"""(?P<value>[^\s"'`\\,;<>{}()\[\]]{6,200})""",
            ignore_case=True, follow=rf"s?{_QUOTES}\s{{0,3}}(?:[:=]|is\s)",
        ),
        check=is_assigned, value="value",
    ),
)  # fmt: skip


_HASH_KINDS = (
    "1", "2a", "2b", "2x", "2y", "5", "6", "y", "gy", "P", "H", "apr1", "sha1", "scrypt",
    "argon2i", "argon2d", "argon2id", "pbkdf2", "pbkdf2-sha1", "pbkdf2-sha256", "pbkdf2-sha512",
)  # fmt: skip
_ELEMENTS = (
    "password", "passwd", "passphrase", "pwd", "secret", "token", "credential",
    *(f"{what}{join}key" for what in ("api", "access", "private", "secret") for join in ("", "_", "-")),
)  # fmt: skip
_OPEN, _CLOSE = r"(?:>|&gt;|\\{1,4}u003e)", r"(?:<|&lt;|\\{1,4}u003c)"
_SPACE = r"""[\s"'\\,]{1,6}"""
"""The separator between the words of a command, or of a list of them in JSON."""
_COOKIES = ("sessionid", "session", "connect.sid", "phpsessid", "jsessionid", "remember_token", "auth_token")

TOOL_SYNTAX: tuple[Rule, ...] = (
    Rule(
        "command-password", "Password given to a command", "secret",
        Anchored(
            ("mysql", "mariadb", "sshpass", "SSHPASS="),
            r"(?:(?:mysql|mariadb)(?:-?dump|-?admin|-?import)?\s(?:[^\n]{0,200}?\s)??-p|SSHPASS="
            rf"""|sshpass(?:{_SPACE}-(?:v|P{_SPACE}[^\s"',]{{1,40}})){{0,2}}{_SPACE}-p(?:\\?["'],)?\s{{0,2}})"""
            r"""(?:\\?(?P<quote>["'])(?=[^"'\\\n]{3,100}["'\\])|\\?["']?)"""
            r"""(?P<value>(?(quote)[^"'\\\n]{3,100}|[^\s"'\\]{3,100}))""",
        ),
        check=is_real, value="value",
    ),
    Rule(
        "netrc-password", "Password in a netrc entry", "secret",
        Anchored(
            ("machine", "default"),
            r"\b(?:machine\s+\S{1,200}|default)\s+login\s+\S{1,100}\s+(?:account\s+\S{1,100}\s+)?password\s+"
            r"(?P<value>[^\s\"'\\]{3,200})",
        ),
        check=is_real, value="value",
    ),
    Rule(
        "registry-login", "Login of a container registry", "secret",
        Anchored(('"auth', "'auth"), r"""["']auth\\?["']\s{0,3}:\s{0,3}\\?["'](?P<value>[A-Za-z0-9+/]{8,400}={0,2})"""),
        check=is_login, value="value",
    ),
    Rule(
        "password-hash", "Hash of a password", "secret",
        Anchored(
            (*(f"${kind}{sign}" for kind in _HASH_KINDS for sign in "$\\"), "pbkdf2_sha", "{SHA}", "{SSHA}"),
            r"\{S?SHA\}[A-Za-z0-9+/]{27,80}={0,2}"
            rf"|(?:\$(?:{'|'.join(_HASH_KINDS)})|(?<![A-Za-z0-9])pbkdf2_sha(?:1|256|512))"
            # a shell wants the signs escaped
            r"\\{0,4}\$(?:[A-Za-z0-9./+,=]|\\{0,4}\$){20,160}(?<![.,])",
        ),
        check=is_filled,
    ),
    Rule(
        "password-element", "Password in a markup element", "secret",
        Anchored(
            _ELEMENTS,
            rf"(?P<name>{'|'.join(_ELEMENTS)})(?:\s[^<>]{{0,200}}(?<!/))?{_OPEN}\s{{0,3}}(?:<!\[CDATA\[)?"
            rf"(?P<value>[^<>\s]{{3,200}}?)(?:\]\]>)?\s{{0,3}}{_CLOSE}\\{{0,4}}/",
            ignore_case=True,
        ),
        hints=("<", "&lt;", "&LT;", "u003c", "u003C"), check=is_element, value="value",
    ),
    Rule(
        "signed-address", "Signature of a shared link", "secret",
        Anchored(("sig=",), r"(?<=[?&;])sig=(?P<value>[A-Za-z0-9%+/_-]{40,200}={0,2})"),
        check=is_random, value="value",
    ),
    Rule(
        "session-cookie", "Session cookie", "secret",
        Anchored(
            (*(f"{name}=" for name in _COOKIES), "s%3a"),
            r"(?:[a-z_.]{3,14}=|(?=s%3A[a-z0-9_-]{16,64}\.[a-z0-9%+/_-]{30,80}))(?P<value>[a-z0-9%._~+/:=-]{16,800})",
            ignore_case=True,
        ),
        check=is_random, value="value",
    ),
)  # fmt: skip


# Patterns begin with a letter or digit and look behind after it: `re` finds their first character many times faster.
PERSONAL: tuple[Rule, ...] = (
    Rule(
        "email", "E-mail address", "personal",
        re.compile(
            r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9_%+-][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,5}[A-Za-z]{2,24}(?![A-Za-z0-9])"
        ),
        (), "[a-z0-9._%+-]@[a-z0-9]", rule.is_mailbox, ignores_case=True,
    ),
    Rule(
        "iban", "IBAN", "personal",
        re.compile(r"[A-Z](?<![A-Za-z0-9].)[A-Z][0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"),
        (), "[a-z]{2}[0-9]{2} ?[a-z0-9]{4}", rule.is_iban, tail=4,
    ),
    Rule(
        "card", "Payment card", "personal",
        re.compile(r"[2-6](?<![\w.+-].)[0-9]{3}(?:[ -]?[0-9]{2,6}){2,4}(?![\w-])(?!\.[0-9])", re.ASCII),
        (), "[2-6][0-9]{3}[ -]?[0-9]{2}", rule.is_card, tail=4,
    ),
    Rule(
        "us-ssn", "US social security number", "personal",
        re.compile(r"[0-8](?<![\w-].)[0-9]{2}(?<!000)(?<!666)-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w-])", re.ASCII), (),
        "[0-9]{2}-[0-9]{2}-[0-9]{4}",
    ),
    Rule(
        "phone", "Phone number", "personal",
        re.compile(r"\+(?<![\w+/=.-].)[0-9]{1,3}[ .-]?(?:\([0-9]{1,4}\)[ .-]?)?[0-9]{1,4}(?:[ .-]?[0-9]{2,4}){1,5}(?![\w-])", re.ASCII),
        (), r"\+[0-9]", rule.is_phone, tail=2,
    ),
    Rule(
        "phone-us", "Phone number", "personal",
        re.compile(r"[(2-9](?<![\w.-].)(?:(?<=\()[2-9][0-9]{2}\) ?|(?<!\()[0-9]{2}-)[2-9][0-9]{2}-[0-9]{4}(?![\w-])", re.ASCII),
        (), r"[0-9]{2}(?:\) ?|-)[2-9][0-9]{2}-[0-9]{4}", rule.is_phone, tail=2,
    ),
    Rule(
        "phone-named", "Phone number", "personal",
        Anchored(
            ("phone", "tel", "mobile", "cell", "fax"),
            r"""\b(?:(?:tele|cell)?phone|tel|mobile|cell|fax)(?:[ _]?(?:number|no|nr))?\b["'\\.]{0,3}\s{0,2}[:=#]?\s{0,2}["'\\]{0,2}"""
            r"""(?P<value>\+?[0-9(][0-9() ./-]{6,18}[0-9])(?![\w-])""",
            ignore_case=True,
        ),
        check=rule.is_phone, value="value", tail=2,
    ),
    Rule(
        "ip", "IP address", "personal",
        re.compile(r"[0-9](?<![\w.].)[0-9]{0,2}(?:\.[0-9]{1,3}){3}(?![\w]|\.[0-9])", re.ASCII), (),
        r"[0-9](?:\.[0-9]{1,3}){3}", rule.is_address,
    ),
    Rule(
        "ipv6", "IP address", "personal",
        re.compile(r"[0-9A-Fa-f:](?<![\w:.].)(?:(?<=:):|(?<!:)[0-9A-Fa-f]{0,3}:)[0-9A-Fa-f:]{4,38}(?![\w:])", re.ASCII),
        (), "[0-9a-f:]:[0-9a-f:]{4}", rule.is_address_6,
    ),
)  # fmt: skip


RULES: tuple[Rule, ...] = (CREDENTIALS[0], *PROVIDER_KEYS, *TOOL_SYNTAX, *CREDENTIALS[1:], *PERSONAL)
SECRETS: tuple[Rule, ...] = tuple(rule for rule in RULES if rule.group == "secret")


def get_rule(name: str) -> Rule | None:
    return next((rule for rule in RULES if rule.name == name), None)
