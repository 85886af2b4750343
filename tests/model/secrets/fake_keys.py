"""A corpus of 200 fake keys, each in a line as people write them. None was ever valid."""

import random
import string
from collections.abc import Callable, Iterator
from typing import Final

_LETTERS: Final = string.ascii_letters
_UPPER: Final = string.ascii_uppercase
_LOWER: Final = string.ascii_lowercase
_DIGITS: Final = string.digits
_HEX: Final = "0123456789abcdef"
_WORD: Final = _LETTERS + _DIGITS
_URL64: Final = _WORD + "-_"
_BASE64: Final = _WORD + "+/"

_random = random.Random(20)


def _of(alphabet: str, length: int) -> str:
    return "".join(_random.choice(alphabet) for _ in range(length))


def _base64url(length: int) -> str:
    """Not a `-` or `_` at either end, which would not be copied by a double click."""
    return _of(_WORD, 1) + _of(_URL64, length - 2) + _of(_WORD, 1)


FORMATS: Final[dict[str, Callable[[], str]]] = {
    "aws": lambda: "AKIA" + _of(_UPPER + "234567", 16),
    "aws-temporary": lambda: "ASIA" + _of(_UPPER + "234567", 16),
    "github-personal": lambda: "ghp_" + _of(_WORD, 36),
    "github-app": lambda: "ghs_" + _of(_WORD, 36),
    "github-oauth": lambda: "gho_" + _of(_WORD, 36),
    "github-fine": lambda: f"github_pat_{_of(_WORD, 22)}_{_of(_WORD, 59)}",
    "gitlab": lambda: "glpat-" + _base64url(20),
    "gitlab-runner": lambda: "glrt-" + _base64url(20),
    "anthropic": lambda: f"sk-ant-api03-{_base64url(93)}AA",
    "anthropic-oauth": lambda: f"sk-ant-oat01-{_base64url(93)}AA",
    "openai": lambda: f"sk-{_of(_WORD, 20)}T3BlbkFJ{_of(_WORD, 20)}",
    "openai-project": lambda: f"sk-proj-{_base64url(74)}T3BlbkFJ{_base64url(74)}",
    "openrouter": lambda: "sk-or-v1-" + _of(_HEX, 64),
    "groq": lambda: "gsk_" + _of(_WORD, 52),
    "xai": lambda: "xai-" + _of(_WORD, 80),
    "perplexity": lambda: "pplx-" + _of(_WORD, 48),
    "replicate": lambda: "r8_" + _of(_WORD, 37),
    "huggingface": lambda: "hf_" + _of(_LETTERS, 34),
    "google": lambda: "AIza" + _base64url(35),
    "google-client": lambda: "GOCSPX-" + _base64url(28),
    "google-access": lambda: "ya29." + _base64url(120),
    "azure-storage": lambda: f"AccountKey={_of(_BASE64, 86)}==",
    "azure-client": lambda: f"{_of(_WORD, 3)}8Q~{_of(_WORD, 34)}",
    "slack-bot": lambda: f"xoxb-{_of(_DIGITS, 12)}-{_of(_DIGITS, 12)}-{_of(_WORD, 24)}",
    "slack-app": lambda: f"xapp-1-A{_of(_WORD, 10)}-{_of(_DIGITS, 12)}-{_of(_HEX, 64)}",
    "slack-webhook": lambda: (
        f"https://hooks.slack.com/services/T{_of(_UPPER, 8)}/B{_of(_UPPER, 8)}/{_of(_WORD, 24)}"
    ),
    "discord-webhook": lambda: (
        f"https://discord.com/api/webhooks/{_of(_DIGITS, 18)}/{_base64url(68)}"
    ),
    "discord": lambda: f"M{_of(_WORD, 23)}.G{_base64url(5)}.{_base64url(38)}",
    "telegram": lambda: f"{_of('123456789', 10)}:AA{_base64url(33)}",
    "stripe": lambda: "sk_" + "live_" + _of(_WORD, 24),
    "stripe-test": lambda: "sk_" + "test_" + _of(_WORD, 99),
    "stripe-webhook": lambda: "whsec_" + _of(_WORD, 32),
    "square": lambda: "EAAA" + _base64url(60),
    "shopify": lambda: "shpat_" + _of(_HEX, 32),
    "twilio": lambda: "SK" + _of(_HEX, 32),
    "sendgrid": lambda: f"SG.{_base64url(22)}.{_base64url(43)}",
    "mailgun": lambda: "key-" + _of(_HEX, 32),
    "mailchimp": lambda: _of(_HEX, 32) + "-us21",
    "npm": lambda: "npm_" + _of(_WORD, 36),
    "pypi": lambda: "pypi-AgEIcHlwaS5vcmc" + _base64url(140),
    "rubygems": lambda: "rubygems_" + _of(_HEX, 48),
    "cargo": lambda: "cio" + _of(_WORD, 32),
    "docker": lambda: "dckr_pat_" + _base64url(27),
    "digitalocean": lambda: "dop_v1_" + _of(_HEX, 64),
    "heroku": lambda: "HRKU-" + _of(_WORD, 58),
    "netlify": lambda: "nfp_" + _of(_WORD, 36),
    "vault": lambda: "hvs." + _base64url(90),
    "terraform": lambda: f"{_of(_WORD, 14)}.atlasv1.{_base64url(66)}",
    "pulumi": lambda: "pul-" + _of(_HEX, 40),
    "databricks": lambda: "dapi" + _of(_HEX, 32),
    "grafana": lambda: f"glsa_{_of(_WORD, 32)}_{_of(_HEX, 8)}",
    "planetscale": lambda: "pscale_tkn_" + _base64url(43),
    "supabase": lambda: "sbp_" + _of(_HEX, 40),
    "linear": lambda: "lin_api_" + _of(_WORD, 40),
    "notion": lambda: "ntn_" + _of(_WORD, 46),
    "airtable": lambda: f"pat{_of(_WORD, 14)}.{_of(_HEX, 64)}",
    "atlassian": lambda: f"ATATT3xFfGF0{_base64url(172)}={_of('0123456789ABCDEF', 8)}",
    "figma": lambda: "figd_" + _base64url(40),
    "sentry": lambda: "sntryu_" + _of(_HEX, 64),
    "newrelic": lambda: "NRAK-" + _of(_UPPER + _DIGITS, 27),
    "doppler": lambda: "dp.pt." + _of(_WORD, 43),
    "tailscale": lambda: f"tskey-auth-{_of(_WORD, 11)}CNTRL-{_of(_WORD, 32)}",
    "age": lambda: "AGE-SECRET-KEY-1" + _of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "bedrock": lambda: "ABSK" + _of(_BASE64, 131) + "=",
    "fireworks": lambda: "fw_" + _of(_WORD, 24),
    "azure-devops": lambda: f"{_of(_WORD, 76)}AZDO{_of(_WORD, 4)}",
    "brevo": lambda: f"xkeysib-{_of(_HEX, 64)}-{_of(_WORD, 16)}",
    "postman": lambda: f"PMAK-{_of(_HEX, 24)}-{_of(_HEX, 34)}",
    "fly": lambda: "fo1_" + _base64url(43),
    "vercel": lambda: "vcp_" + _base64url(56),
    "cloudflare": lambda: f"v1.0-{_of(_HEX, 24)}-{_of(_HEX, 146)}",
    "dynatrace": lambda: f"dt0c01.{_of(_UPPER + _DIGITS, 24)}.{_of(_UPPER + _DIGITS, 64)}",
    "1password": lambda: "ops_eyJ" + _of(_WORD, 400),
    "jwt": lambda: f"eyJhbGciOiJIUzI1NiJ9.eyJ{_of(_WORD, 60)}.{_base64url(43)}",
    "private-key": lambda: (
        "-----BEGIN RSA PRIVATE KEY-----\n"
        + "\n".join(_of(_BASE64, 64) for _ in range(12))
        + "\n-----END RSA PRIVATE KEY-----"
    ),
    "openssh-key": lambda: (
        "-----BEGIN OPENSSH PRIVATE KEY-----\n"
        + "\n".join(_of(_BASE64, 70) for _ in range(5))
        + "\n-----END OPENSSH PRIVATE KEY-----"
    ),
}
"""A key of each known format."""

BEFORE: Final = (
    "", " ", "(", "=", "x=", "_", "x_", "**_", "-", "+", "a\n-", r"\n", r"\\n", r"\t", r"\r", r"\f",
    r"\0", r"\e", r"\'", r'\"', r"\x3d", r"\075", r"\u003d", r"\U0000003D", "&#61;", "%20", "%3D",
    "%3d", "%253D", "%u003d", "=3D", "\x1b[m", "\x1b[0m", "\x1b[31m", "\x1b[1;31m",
    "\x1b[38;5;196m", "\x1b[01;31m\x1b[K", r"\033[31m", r"\x1b[31m", r"\u001b[31m", r"\e[0K",
    "^[[31m", "[31m",
)  # fmt: skip
"""What stands directly before a key: escapes of many kinds, `_`, marks of a diff."""
BEHIND: Final = (
    "", " ", ")", "_", "_ y", "_**", r"\n", r"\\n", r"\t", r"\u0026", r"\x26", r"\033[0m", r"\'",
    "&amp;", "%20y", "%26y", "\x1b[0m", "\x1b[m\x1b[K", "[0m",
)  # fmt: skip
"""What stands directly behind a key."""

_STRONG: Final = _WORD + "!#@&*+"
UNKNOWN: Final[tuple[Callable[[], tuple[str, str]], ...]] = (
    lambda: ("aws_secret_access_key = {}", _of(_BASE64, 40)),
    lambda: ("AWS_SECRET_ACCESS_KEY={}", _of(_BASE64, 40)),
    lambda: ('DATABASE_PASSWORD="{}"', _of(_STRONG, 16)),
    lambda: ("DB_PASSWORD={}", _of(_WORD, 20)),
    lambda: ("password: {}", _of(_WORD, 16)),
    lambda: ('"client_secret": "{}",', _of(_URL64, 32)),
    lambda: ("const apiKey = '{}';", _of(_HEX, 32)),
    lambda: ('api_key: "{}"', _of(_WORD, 40)),
    lambda: ('SECRET_KEY = "django-insecure-{}"', _of(_LOWER + _DIGITS, 50)),
    lambda: ("redis://default:{}@cache.internal:6379/0", _of(_WORD, 24)),
    lambda: ("postgres://app:{}@db.internal/app", _of(_WORD, 18)),
    lambda: ("Authorization: Bearer {}", _of(_URL64, 40)),
    lambda: ('headers["Authorization"] = "Basic {}"', _of(_WORD, 28) + "=="),
    lambda: ("session_secret := `{}`", _of(_WORD, 32)),
    lambda: ("export GATEWAY_TOKEN={}", _of(_WORD, 32)),
    lambda: ("  token: {}", _of(_HEX, 40)),
    lambda: ('private_key="{}"', _of(_BASE64, 44)),
    lambda: ("encryption_key => '{}'", _of(_HEX, 64)),
    lambda: ("jwt.secret={}", _of(_WORD, 48)),
    lambda: ('<add key="SmtpPassword" value="{}" />', _of(_WORD, 14)),
)
"""A line with a value of no known format."""

_LINES: Final = (
    "{}", 'key = "{}"', "API_KEY={}", "  - name: {}", '"token": "{}",', "curl -H 'X-Key: {}' x",
    "client = Client('{}')", "# {} is the old one", "set KEY {};", "<value>{}</value>",
)  # fmt: skip


def fake_keys(count: int = 200) -> Iterator[tuple[str, str, str]]:
    """Yield the kind, the key, and a line of a file with it; two thirds have a known format."""
    makers = list(FORMATS.items())
    for number in range(count):
        if number % 3 == 2:
            line, key = UNKNOWN[number // 3 % len(UNKNOWN)]()
            yield "unknown", key, line.format(key)
        else:
            kind, make = makers[number % len(makers)]
            key = make()
            yield kind, key, _LINES[number % len(_LINES)].format(key)
