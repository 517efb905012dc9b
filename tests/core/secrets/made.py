"""Made-up secrets, put together from parts so that no scanner takes this file for a leak."""
# ruff: noqa: E501

from __future__ import annotations

import base64
import random
import string

_random = random.Random(4)
ALNUM, HEX, UPPER, LOWER32 = (
    string.ascii_letters + string.digits,
    "0123456789abcdef",
    string.ascii_uppercase + "234567",
    string.ascii_lowercase + "234567",
)


def fake(length: int, letters: str = ALNUM) -> str:
    """Random, with at least one digit where the letters have any."""
    text = "".join(_random.choices(letters, k=length - 1))
    return text + ("7" if "7" in letters else letters[0])


def join(*parts: str) -> str:
    return "".join(parts)


def key_block(kind: str, newline: str = "\n") -> str:
    dashes = "-" * 5
    lines = newline.join(fake(64) for _ in range(4))
    return f"{dashes}BEGIN {kind} KEY{dashes}{newline}{lines}{newline}{dashes}END {kind} KEY{dashes}"


def login(name: str, password: str) -> str:
    return base64.b64encode(f"{name}:{password}".encode()).decode()


PRIVATE = join("RSA PRI", "VATE")
_jwt = (join("ey", "J", fake(20)), join("ey", "J", fake(40)), fake(43))
_password = "tR0ub4dor&3x"

EXAMPLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # rule: texts with one secret between « and », texts without any
    "private-key": (
        (f"here:\n«{key_block(PRIVATE)}»\nthat is it", f'{{"pem": "«{key_block(PRIVATE, chr(92) + "n")}»"}}'),
        (key_block("PUBLIC"), "a file that starts with BEGIN RSA PRI" + "VATE KEY"),
    ),
    "anthropic-key": ((f"key «{join('sk-', 'ant-', 'api03-', fake(60))}» set",), ("sk-ant-api03-...", "sk-ant-<your key>")),
    "openrouter-key": ((f"«{join('sk-', 'or-', 'v1-', fake(64, HEX))}»",), ("sk-or-v1-",)),
    "langfuse-key": ((f"«{join('sk-', 'lf-', '1b2c3d4e-', '5f60-4a7b-8c9d-', fake(12, HEX))}»",), ("sk-lf-...",)),
    "openai-key": (
        (f"OPENAI «{join('sk-', 'proj-', fake(60))}»", f"use «{join('sk-', fake(48))}», please"),
        ("sk-learn", "task-management-of-the-whole-organisation", "ask-me-anything-about-the-very-long-thing", "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    ),
    "aws-access-key-id": ((f"id «{join('AK', 'IA', fake(16, UPPER))}»", f"«{join('AK', 'IA', 'IOSFODNN7', 'EXAMPLE')}»"), ("AKIAIOSFODNN", "AKIA" + "X" * 16)),
    "google-api-key": ((f"?key=«{join('AI', 'za', fake(35))}»&q=1",), ("AIza", "AIzawa the composer")),
    "google-oauth-secret": ((f"«{join('GOC', 'SPX-', fake(28))}»",), ("GOCSPX-",)),
    "google-oauth-token": ((f"«{join('ya', '29.', fake(60))}»",), ("ya29.",)),
    "github-token": ((f"git clone https://«{join('gh', 'p_', fake(36))}»@host.dev/a", f"«{join('gh', 's_', fake(36))}»"), ("ghp_", "ghp_short1")),
    "github-pat": ((f"«{join('github', '_pat_', fake(22), '_', fake(59))}»",), ("github_pat_",)),
    "gitlab-token": ((f"«{join('gl', 'pat-', fake(20))}»",), ("glpat-",)),
    "slack-token": ((f"«{join('xo', 'xb-', '123456789012-', fake(24))}»",), ("xoxo", "xoxb-...")),
    "slack-app-token": ((f"«{join('xa', 'pp-', '1-A0', fake(10), '-', fake(40))}»",), ("xapp-",)),
    "slack-webhook": ((f"POST «{join('https://hooks.', 'slack.com/services/', 'T0', fake(8), '/B0', fake(8), '/', fake(24))}»",), ("https://hooks.slack.com/services/",)),
    "stripe-key": ((f"«{join('sk', '_live_', fake(24))}»", f"«{join('rk', '_test_', fake(24))}»"), ("sk_live_", "task_test_1234567890abcdef")),
    "stripe-webhook-secret": ((f"«{join('wh', 'sec_', fake(32))}»",), ("whsec_",)),
    "twilio-key": ((f"«{join('S', 'K', fake(32, HEX))}»",), ("SK" + "1234",)),
    "sendgrid-key": ((f"«{join('S', 'G.', fake(22), '.', fake(43))}»",), ("SG.",)),
    "mailgun-key": ((f"«{join('ke', 'y-', fake(32, HEX))}»",), ("key-value", "key-" + "a1" * 8)),
    "hugging-face-token": ((f"«{join('h', 'f_', fake(34))}»", f"«{join('h', 'f_', fake(34, string.ascii_letters))}»"), ("hf_hub_download", "hf_internal_testing_tiny_random_model")),
    "npm-token": ((f"//registry/:_auth «{join('np', 'm_', fake(36))}»",), ("npm_config_cache",)),
    "pypi-token": ((f"«{join('py', 'pi-', 'AgE', fake(80))}»",), ("pypi-AgE",)),
    "digitalocean-token": ((f"«{join('do', 'p_v1_', fake(64, HEX))}»",), ("dop_v1_",)),
    "databricks-token": ((f"«{join('da', 'pi', fake(32, HEX))}»",), ("dapi",)),
    "telegram-bot-token": ((f"bot «{join('1234567', '89', ':AA', fake(33))}»",), ("12:AA",)),
    "discord-token": ((f"«{join('M', 'T', fake(23), '.', fake(6), '.', fake(30))}»",), ("Module.submodule.some_function_name",)),
    "groq-key": ((f"«{join('gs', 'k_', fake(52))}»",), ("gsk_",)),
    "xai-key": ((f"«{join('xa', 'i-', fake(80))}»",), ("xai-",)),
    "replicate-token": ((f"«{join('r', '8_', fake(37))}»",), ("r8_",)),
    "perplexity-key": ((f"«{join('pp', 'lx-', fake(48))}»",), ("pplx-",)),
    "langsmith-key": ((f"«{join('ls', 'v2_pt_', fake(32, HEX), '_', fake(10, HEX))}»",), ("lsv2_pt_",)),
    "tavily-key": ((f"«{join('tv', 'ly-', 'dev-', fake(32))}»",), ("tvly-",)),
    "notion-token": ((f"«{join('nt', 'n_', fake(46))}»",), ("ntn_", "secret_word")),
    "linear-key": ((f"«{join('li', 'n_api_', fake(40))}»",), ("lin_api_",)),
    "shopify-token": ((f"«{join('sh', 'pat_', fake(32, HEX))}»",), ("shpat_",)),
    "vault-token": ((f"«{join('hv', 's.', fake(24))}»",), ("hvs.",)),
    "docker-token": ((f"«{join('dc', 'kr_pat_', fake(27))}»",), ("dckr_pat_",)),
    "grafana-token": ((f"«{join('gl', 'sa_', fake(32), '_', fake(8, HEX))}»",), ("glsa_",)),
    "sentry-token": ((f"«{join('sn', 'trys_', fake(60))}»",), ("sntrys_",)),
    "postman-key": ((f"«{join('PM', 'AK-', fake(24, HEX), '-', fake(34, HEX))}»",), ("PMAK-",)),
    "figma-token": ((f"«{join('fi', 'gd_', fake(40))}»",), ("figd_",)),
    "supabase-token": ((f"«{join('sb', 'p_', fake(40, HEX))}»",), ("sbp_",)),
    "age-key": ((f"«{join('AGE-', 'SECRET-', 'KEY-1', fake(58, string.digits + string.ascii_uppercase))}»",), ("AGE-SECRET-KEY-1",)),
    "bedrock-key": ((f"«{join('AB', 'SK', fake(120))}=»",), ("ABSKQ",)),
    "nvidia-key": ((f"«{join('nv', 'api-', fake(64))}»",), ("nvapi-key-of-mine", "nvapi-")),
    "cerebras-key": ((f"«{join('cs', 'k-', fake(48, string.ascii_lowercase + string.digits))}»",), ("csk-learn",)),
    "pinecone-key": ((f"«{join('pc', 'sk_', fake(5), '_', fake(60))}»",), ("pcsk_", "pcsk_a_name_of_words_only_and_no_number_in_it_anywhere")),
    "elevenlabs-key": ((f"«{join('s', 'k_', fake(48, HEX))}»",), ("sk_logits", "sk_" + "a1" * 20)),
    "firecrawl-key": ((f"«{join('f', 'c-', fake(32, HEX))}»",), ("fc-match", "fc-" + "a1" * 12)),
    "e2b-key": ((f"«{join('e2', 'b_', fake(40, HEX))}»",), ("e2b_template",)),
    "azure-client-secret": ((f"«{join('aB3', '8', 'Q~', fake(34))}»",), ("Q~", "1Q~ and more")),
    "cloudflare-ca-key": ((f"«{join('v1', '.0-', fake(24, HEX), '-', fake(146, HEX))}»",), ("v1.0-beta", "v1.0-" + "ab" * 12)),
    "terraform-token": ((f"«{join(fake(14), '.atlas', 'v1.', fake(67))}»",), (".atlasv1.",)),
    "airtable-token": ((f"«{join('p', 'at', fake(14), '.', fake(64, HEX))}»",), ("pattern.match", "path")),
    "atlassian-token": ((f"«{join('AT', 'ATT3', 'xFfGF0', fake(160))}»",), ("ATATT3",)),
    "bitbucket-token": ((f"«{join('AT', 'CTT3', 'xFfGN0', fake(160))}»",), ("ATCTT3",)),
    "hubspot-token": ((f"«{join('p', 'at-', 'na1-', fake(8, HEX), '-1a2b-3c4d-5e6f-', fake(12, HEX))}»",), ("pat-na1-", "pat-a-cake")),
    "netlify-token": ((f"«{join('nf', 'p_', fake(40))}»",), ("nfp_",)),
    "heroku-key": ((f"«{join('HR', 'KU-AA', fake(58))}»",), ("HRKU-",)),
    "doppler-token": ((f"«{join('d', 'p.pt.', fake(43))}»",), ("dp.pt.", "dp.state")),
    "square-token": ((f"«{join('sq', '0csp-', fake(43))}»", f"«{join('EA', 'AA', fake(60))}»"), ("sq0csp-", "EAAAAAAAAAAAAAAAAAAAAAAAAAAA")),
    "shippo-token": ((f"«{join('shippo', '_live_', fake(40, HEX))}»",), ("shippo_live_",)),
    "brevo-key": ((f"«{join('xkey', 'sib-', fake(64, HEX), '-', fake(16))}»",), ("xkeysib-",)),
    "resend-key": ((f"«{join('r', 'e_', fake(8), '_', fake(24))}»",), ("re_compile_and_match_the_patterns", "re_")),
    "newrelic-key": ((f"«{join('NR', 'AK-', fake(27, string.ascii_uppercase + string.digits))}»",), ("NRAK-",)),
    "dynatrace-token": (
        (f"«{join('dt', '0c01.', fake(24, string.ascii_uppercase + string.digits), '.', fake(64, string.ascii_uppercase + string.digits))}»",),
        ("dt0c01.",),
    ),
    "planetscale-token": ((f"«{join('pscale', '_tkn_', fake(43))}»",), ("pscale_tkn_", "pscale_pw_")),
    "rubygems-key": ((f"«{join('ruby', 'gems_', fake(48, HEX))}»",), ("rubygems_api_key",)),
    "crates-token": ((f"«{join('c', 'io', fake(32))}»",), ("cioabcdefghijklmnopqrstuvwxyzabcdef", "ciology")),
    "pulumi-token": ((f"«{join('p', 'ul-', fake(40, HEX))}»",), ("pul-up",)),
    "buildkite-token": ((f"«{join('bk', 'ua_', fake(40, HEX))}»",), ("bkua_",)),
    "sonar-token": ((f"«{join('sq', 'p_', fake(40, HEX))}»",), ("sqp_", "squ_name")),
    "discord-webhook": ((f"POST «{join('https://', 'discord.com/api/', 'webhooks/', '123456789012345678/', fake(68))}»",), ("https://discord.com/api/webhooks/",)),
    "teams-webhook": ((f"«{join('https://acme.webhook.', 'office.com/webhookb2/', fake(36), '@', fake(36), '/IncomingWebhook/', fake(32), '/', fake(36))}»",), ("https://acme.webhook.office.com/webhookb2/",)),
    "jwt": ((f"cookie «{'.'.join(_jwt)}»",), ("eyJ0eXAi", "eyJhbGciOiJ.broken")),
    "url-credentials": (
        (f"psql postgres://ada:«{_password}»@db.internal:5432/app", f'{{"url": "https://bot:«{fake(12)}»@git.host/x"}}'),
        ("https://user:password@host/", "http://host:8080/a@b", "https://user:$TOKEN@host", "postgres://user:<pw>@host"),
    ),
    "connection-string": (
        (f"Server=db;User Id=sa;Password=«{_password}»;Encrypt=yes",
         f"DefaultEndpointsProtocol=https;AccountName=store;AccountKey=«{fake(86)}==»;EndpointSuffix=core"),
        ("Server=db;Integrated Security=true", "Server=db;Password=****;"),
    ),
    "authorization-header": (
        (f"Authorization: Bearer «{fake(40)}»", f'{{"x-api-key": "«{fake(32)}»"}}', f'\\"Authorization\\": \\"Basic «{fake(24)}»\\"'),
        ("Authorization: Bearer $TOKEN", "Authorization: Bearer your-token-here-1", "x-api-key: str"),
    ),
    "bearer-token": ((f"send bearer «{fake(32)}»",), ("a bearer of good news about the internationalisation",)),
    "command-password": (
        (f"mysql -u root -p«{fake(9)}» shop < dump.sql", f"mysqldump -p'«{fake(12)}»' shop", f"sshpass -p «{fake(10)}» ssh bot@h",
         f'mysql -u root -p"«{fake(6)} {fake(6)}»" shop', f"mysql -p'«{fake(9)}»",
         f"SSHPASS=«{fake(9)}» sshpass -e ssh bot@h", f"export SSHPASS='«{fake(5)} {fake(5)}»'", f'sshpass -v -p \\"«{fake(9)}»\\" ssh h',
         f'["sshpass", "-p", "«{fake(9)}»", "ssh"]'),
        ("SSHPASS=$SECRET sshpass -e ssh h", "sshpass -f file ssh -p 22022 bot@h",
         "mysql -u root -p shop", "mysql -P 3306 -h db", "sshpass -p $PASS ssh bot@h", "mysql -p$DB_PASS shop"),
    ),
    "netrc-password": (
        (f"machine git.acme.dev login bot password «{fake(14)}»", f"machine a.dev\n  login bot\n  password «{fake(10)}»\n",
         f"default login bot account ops password «{fake(10)}»"),
        ("the machine has no login and no password yet", "machine h login u password <password>"),
    ),
    "registry-login": (
        (f'{{"auths": {{"r.dev": {{"auth": "«{login("bot", fake(12))}»"}}}}}}',),
        ('{"auth": "required"}', '{"auth": "bm90IGEgbG9naW4="}'),
    ),
    "password-hash": (
        (f"bot:«$apr1${fake(8)}${fake(22)}»", f"root:«$6${fake(16)}${fake(86)}»:19700:0:99999:7:::", f"«$2y$10${fake(53)}»", f"bot:«{{SHA}}{fake(27)}=»",
         f"ada:«$1${fake(8)}${fake(22)}»:", f"«$5$rounds=5000${fake(16)}${fake(43)}»", f"«$2b$12${fake(53)}»", f"«$y$j9T${fake(22)}${fake(43)}»",
         f"usermod -p '\\«$6\\${fake(8)}\\${fake(86)}»' bot", f"«$P$B{fake(30)}»", f"«pbkdf2_sha256$600000${fake(22)}${fake(43)}=»"),
        ("it costs $6$ or $1$ a month", "echo $1$2$3"),
    ),
    "password-element": (
        (f"<server><username>bot</username><password>«{fake(11)}»</password></server>",
         f'<wsse:Password Type="Text">«{fake(11)}»</wsse:Password>', f"<password><![CDATA[«{fake(11)}»]]></password>", f"<pwd>«{fake(5)}]{fake(4)}»</pwd>",
         f"<adminPassword>«{fake(9)}»</adminPassword>", f"<db.password>«{fake(9)}»<\\/db.password>", f"<clientSecret>«{fake(20)}»</clientSecret>",
         f"&lt;ns:UserPassword&gt;«{fake(9)}»&lt;/ns:UserPassword&gt;"),
        ("<adminPassword>changes every day</adminPassword>", "<serviceToken>token-of-the-service</serviceToken>", "the password>8</b> letters",
         "<password></password>", "<password>${env.PASS}</password>", "<token>...</token>", "<tokens>12345678</tokens>", "<xs:token type='x'/>next<b>", "std::token>3<4"),
    ),
    "signed-address": (
        (f"https://acme.blob.core.windows.net/a/b?sv=2024-11-04&sp=r&sig=«{fake(43)}%3D»",),
        ("?sig=short", "config=" + "a" * 50),
    ),
    "session-cookie": (
        (f"document.cookie = 'sessionid=«{fake(32)}»'", f"curl -b connect.sid=«s%3A{fake(32)}.{fake(43)}»",
         f'"set-cookie": "id=«s%3A{fake(32)}.{fake(43)}»; HttpOnly"'),
        ("session=new", "sessionid=your-session-id-goes-here", "u=https%3A%2F%2Fhost.dev%2Fa-long-path-of-an-address.html"),
    ),
    "curl-password": ((f"curl -s -u admin:«{fake(9)}» https://h/", f"curl --user 'bot:«{fake(9)}»' https://h"), ("curl -u user https://h",)),
    "assigned-secret": (
        (f"DB_PASSWORD=«{_password}»", f'{{"api_key": "«{fake(24)}»"}}', f"clientSecret: '«{fake(30)}»'", f'\\"access_token\\": \\"«{fake(30)}»\\"',
         f"export MY_API_KEY=«{fake(32, HEX)}»", f"aws_secret_access_key = «{fake(40)}»", f"password: «{_password}»"),
        ('"max_tokens": 12000000', "password = getpass.getpass()", "token = os.environ['TOKEN_NAME_1']", "secret: ${SECRET_1234}",
         "total_tokens=123456789", "password: <your password>", "tokens: 1234567890", "api_key=your_api_key_1", "the secret: nobody knows it",
         "next_token: undefined", "password_hash_algorithm: argon2id-v19"),
    ),
    "email": (("mail «ada.lovelace@engine.co.uk», soon", "to «user@example.com»", "<«b+c@mail.dev»>"), ("git@github.com:a/b", "noreply@host.dev", "a @ b", "icon@2x.png", "x@y")),
    "iban": (("IBAN «DE89 3704 0044 0532 0130 00»", "«GB82WEST12345698765432»."), ("DE88 3704 0044 0532 0130 00", "GB82WEST1234569876543", "ABCD1234EFGH5678")),
    "card": (("card «4111 1111 1111 1111»", "«5500-0055-5555-5559»", "amex «378282246310005»"), ("4111 1111 1111 1112", "1754000000000000", "id 41111111111111111111111", "0000 0000 0000 0000")),
    "us-ssn": (("ssn «536-90-4399»",), ("000-12-3456", "666-12-3456", "2024-01-2345", "536-904-399")),
    "phone": (("call «+44 20 7946 0958» now", "«+1-415-555-2671»", "«+4915112345678»"), ("+12345", "1+2345678901", "+0000000000", "UTC+02 and more")),
    "phone-us": (("«(415) 555-2671»", "at «415-555-2671»."), ("415-555-267", "1-2-3", "100-200-3000")),
    "phone-named": (("phone: «030 901820 12»", '{"mobile": "«0151 234 567 89»"}'), ("phone: none", "tel: 12", "phone 123456")),
    "ip": (("from «84.17.49.202» port 1", "«10.1.2.3»:80"), ("127.0.0.1", "version 1.2.3.4", "v10.20.30.40", "1.2.3", "1.2.3.4.5", "300.1.1.1", "255.255.255.0")),
    "ipv6": (("«2a02:2f0a:b30a::8d2e:370:7334»",), ("12:34:56", "std::vector", "00:1a:2b:3c:4d:5e", "::1", "a:b:c")),
}  # fmt: skip
