"""The formats of keys and tokens that can be recognized by themselves.

No maintained package has such a list for Python, so this is a short one of our own: the services
that programs use most. Each format has a literal text in it, by which texts without it are skipped
quickly, and bounded repetitions, so that the cost is linear. The sources are the services' own
documentation, named per row; where one documents only the prefix, the length is that of the keys
it issues.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from model.base.masking import BEFORE_KEY, ESCAPE_BEFORE


@dataclass(frozen=True, slots=True)
class KeyFormat:
    """A kind of key: what it is called, and how it looks."""

    label: str
    """For a sentence: "an AWS access key"."""
    hints: tuple[str, ...]
    """Every key of this kind contains one of these, exactly so."""
    expression: str
    """A whole key."""
    more: str = ""
    """Characters besides letters and digits that may not stand before the key, or after it."""
    pattern: re.Pattern[str] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", re.compile(self.expression))

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each key in the text."""
        if not any(hint in text for hint in self.hints):
            return
        # The edges are checked here: an expression that looks behind itself is searched for slowly.
        for match in self.pattern.finditer(text):
            start, end = match.span()
            if self._is_inner(text[end : end + 1]):
                continue
            if not self._is_inner(text[start - 1 : start]) or _BEFORE.match(text, start):
                yield start, end

    def _is_inner(self, character: str) -> bool:
        return (character.isascii() and character.isalnum()) or (
            character != "" and character in self.more
        )


_BEFORE: Final = re.compile(rf"{ESCAPE_BEFORE}|(?<==)|(?<=^[+-])", re.MULTILINE)
"""Where a key may begin, whatever stands there: also behind `NAME=`, and the mark of a diff."""
_BASE64URL: Final = r"[A-Za-z0-9_-]"

KEY_FORMATS: Final = (
    # docs.aws.amazon.com: IAM identifiers, "Understanding unique ID prefixes"
    KeyFormat(
        "AWS access key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}"
    ),
    # docs.aws.amazon.com: Amazon Bedrock API keys
    KeyFormat("Amazon Bedrock key", ("ABSK",), r"ABSK[A-Za-z0-9+/]{109,269}={0,2}", "+/-"),
    # docs.github.com: About authentication to GitHub, "GitHub's token formats"
    KeyFormat(
        "GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{36,251}"
    ),
    KeyFormat("GitHub token", ("github_pat_",), r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    # docs.gitlab.com: Token overview, "Token prefixes"
    KeyFormat(
        "GitLab token",
        (
            "glpat-",
            "gldt-",
            "glrt-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glsoat-",
            "glffct-",
        ),
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.-]{20,300}",
        "-",
    ),
    # docs.anthropic.com: API keys; Claude Code, "setup-token"
    KeyFormat(
        "Anthropic key",
        ("sk-ant-",),
        rf"sk-ant-(?:api|admin|oat|ort)\d{{2}}-{_BASE64URL}{{80,200}}",
        "-",
    ),
    # platform.openai.com: API keys (project, service account, admin; all contain T3BlbkFJ)
    KeyFormat(
        "OpenAI key",
        ("T3BlbkFJ",),
        rf"sk-(?:(?:proj|svcacct|admin)-)?{_BASE64URL}{{16,200}}T3BlbkFJ{_BASE64URL}{{16,200}}",
        "-",
    ),
    # openrouter.ai/docs, console.groq.com/docs, docs.x.ai, docs.perplexity.ai, replicate.com/docs
    KeyFormat("OpenRouter key", ("sk-or-v1-",), r"sk-or-v1-[0-9a-f]{64}"),
    KeyFormat("Groq key", ("gsk_",), r"gsk_[A-Za-z0-9]{52}"),
    KeyFormat("xAI key", ("xai-",), r"xai-[A-Za-z0-9_]{70,90}"),
    KeyFormat("Perplexity key", ("pplx-",), r"pplx-[A-Za-z0-9]{48,56}"),
    KeyFormat("Replicate token", ("r8_",), r"r8_[A-Za-z0-9]{37}"),
    KeyFormat("Fireworks key", ("fw_",), r"fw_[A-Za-z0-9]{24}"),
    # huggingface.co/docs: User access tokens
    KeyFormat("Hugging Face token", ("hf_", "api_org_"), r"(?:hf_|api_org_)[A-Za-z]{34}"),
    # cloud.google.com/docs: API keys; OAuth 2.0 client secrets and access tokens
    KeyFormat("Google key", ("AIza",), rf"AIza{_BASE64URL}{{35}}", "-"),
    KeyFormat("Google client secret", ("GOCSPX-",), rf"GOCSPX-{_BASE64URL}{{28}}", "-"),
    KeyFormat("Google access token", ("ya29.",), rf"ya29\.{_BASE64URL}{{30,500}}", "-"),
    # learn.microsoft.com: Azure storage account keys, Entra client secrets, DevOps tokens
    KeyFormat("Azure storage key", ("AccountKey=",), r"AccountKey=[A-Za-z0-9+/]{86}==", "+/="),
    KeyFormat(
        "Azure client secret",
        ("8Q~", "7Q~"),
        r"[A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}",
        "~.-",
    ),
    KeyFormat("Azure DevOps token", ("AZDO",), r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    # api.slack.com: Token types; Incoming webhooks
    KeyFormat(
        "Slack token",
        ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xapp-"),
        r"(?:xox[baprs]-[A-Za-z0-9-]{20,200}"
        r"|xoxe(?:\.xox[bp])?-\d-[A-Za-z0-9-]{40,300}|xapp-\d-[A-Za-z0-9-]{40,200})",
        "-",
    ),
    KeyFormat(
        "Slack webhook",
        ("hooks.slack.com/",),
        r"https://hooks\.slack\.com/"
        r"(?:services|workflows|triggers)/[A-Za-z0-9+/]{30,90}",
        "+/",
    ),
    # discord.com/developers: Bot tokens; Webhooks
    KeyFormat(
        "Discord webhook",
        ("/api/webhooks/",),
        r"https://(?:\w{1,10}\.)?discord(?:app)?\.com/api/webhooks/"
        rf"\d{{17,20}}/{_BASE64URL}{{60,80}}",
        "-",
    ),
    KeyFormat(
        "Discord token",
        (".G", ".X", ".Y"),
        rf"[MNO][A-Za-z\d]{{23,25}}\.[GXY]{_BASE64URL}{{5}}\.{_BASE64URL}{{27,38}}",
        "-",
    ),
    # core.telegram.org/bots/api: Authorizing your bot
    # A digit in front may be of an escape.
    KeyFormat("Telegram bot token", (":AA",), rf"{BEFORE_KEY}\d{{8,10}}:AA{_BASE64URL}{{33}}", "-"),
    # stripe.com/docs/keys
    KeyFormat(
        "Stripe key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_"),
        r"[rs]k_(?:live|test)_[A-Za-z0-9]{20,247}",
    ),
    KeyFormat("Stripe webhook secret", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{32,64}", "+/-"),
    # developer.squareup.com, shopify.dev, docs.twilio.com, docs.sendgrid.com, mailgun, mailchimp
    KeyFormat(
        "Square token",
        ("EAAA", "sq0csp-", "sq0atp-"),
        rf"(?:EAAA{_BASE64URL}{{60}}"
        rf"|sq0(?:atp-{_BASE64URL}{{22}}|csp-{_BASE64URL}{{43}}))",
        "-",
    ),
    KeyFormat(
        "Shopify token",
        ("shpat_", "shpca_", "shppa_", "shpss_"),
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    ),
    KeyFormat("Twilio key", ("SK",), r"SK[0-9a-f]{32}"),
    KeyFormat("SendGrid key", ("SG.",), rf"SG\.{_BASE64URL}{{22}}\.{_BASE64URL}{{43}}", "-"),
    KeyFormat("Mailgun key", ("key-",), r"key-[0-9a-f]{32}", "-"),
    KeyFormat("Mailchimp key", ("-us",), r"[0-9a-f]{32}-us\d{1,2}"),
    KeyFormat("Brevo key", ("xkeysib-",), r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    KeyFormat("Postman key", ("PMAK-",), r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    # docs.npmjs.com, pypi.org/help, guides.rubygems.org, doc.rust-lang.org/cargo, docs.docker.com
    KeyFormat("npm token", ("npm_",), r"npm_[A-Za-z0-9]{36}"),
    KeyFormat("PyPI token", ("pypi-AgE",), rf"pypi-AgE{_BASE64URL}{{50,1000}}", "-"),
    KeyFormat("RubyGems key", ("rubygems_",), r"rubygems_[0-9a-f]{48}"),
    KeyFormat("crates.io token", ("cio",), r"cio[A-Za-z0-9]{32}"),
    KeyFormat(
        "Docker Hub token", ("dckr_pat_", "dckr_oat_"), rf"dckr_[po]at_{_BASE64URL}{{27,32}}", "-"
    ),
    # docs.digitalocean.com, devcenter.heroku.com, fly.io/docs, docs.netlify.com, vercel.com/docs
    KeyFormat("DigitalOcean token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[opr]_v1_[0-9a-f]{64}"),
    KeyFormat("Heroku key", ("HRKU-",), r"HRKU-[A-Za-z0-9_-]{36,60}", "-"),
    KeyFormat(
        "Fly.io token",
        ("FlyV1 ", "fo1_"),
        r"(?:FlyV1 (?:fm\d|m2)_[A-Za-z0-9+/=,_-]{100,2000}"
        r"|fo1_[A-Za-z0-9_-]{43})",
        "+/-",
    ),
    KeyFormat(
        "Netlify token", ("nfp_", "nfc_", "nfo_", "nfu_", "nfb_"), r"nf[pcoub]_[A-Za-z0-9_]{36}"
    ),
    KeyFormat(
        "Vercel token",
        ("vcp_", "vci_", "vca_", "vcr_", "vck_"),
        r"vc[piark]_[A-Za-z0-9_-]{56}",
        "-",
    ),
    KeyFormat("Cloudflare key", ("v1.0-",), r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    # developer.hashicorp.com (Vault, Terraform), pulumi.com/docs, docs.databricks.com, grafana.com
    KeyFormat("Vault token", ("hvs.", "hvb.", "hvr."), rf"hv[sbr]\.{_BASE64URL}{{24,300}}", "-"),
    KeyFormat(
        "Terraform token",
        (".atlasv1.",),
        rf"[A-Za-z0-9]{{14}}\.atlasv1\.{_BASE64URL}{{60,70}}",
        "-",
    ),
    KeyFormat("Pulumi token", ("pul-",), r"pul-[0-9a-f]{40}"),
    KeyFormat("Databricks token", ("dapi",), r"dapi[0-9a-f]{32}(?:-\d)?"),
    KeyFormat(
        "Grafana token",
        ("glsa_", "glc_"),
        r"(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2})",
        "+/-",
    ),
    KeyFormat(
        "PlanetScale secret", ("pscale_",), rf"pscale_(?:tkn|pw|oauth)_{_BASE64URL}{{32,64}}", "-"
    ),
    KeyFormat(
        "Supabase key",
        ("sbp_", "sb_secret_"),
        rf"(?:sbp_[0-9a-f]{{40}}|sb_secret_{_BASE64URL}{{31,44}})",
        "-",
    ),
    # linear.app, notion.com, airtable.com, atlassian.com, figma.com, docs.sentry.io, newrelic.com
    KeyFormat(
        "Linear key", ("lin_api_", "lin_oauth_"), r"lin_(?:api_[A-Za-z0-9]{40}|oauth_[0-9a-f]{64})"
    ),
    KeyFormat(
        "Notion token", ("ntn_", "secret_"), r"(?:ntn_[A-Za-z0-9]{46}|secret_[A-Za-z0-9]{43})"
    ),
    KeyFormat("Airtable token", ("pat",), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    KeyFormat(
        "Atlassian token",
        ("ATATT3", "ATCTT3", "ATBB"),
        rf"(?:AT[AC]TT3{_BASE64URL}{{60,250}}=?[0-9A-F]{{0,8}}"
        r"|ATBB[A-Za-z0-9]{32})",
        "=-",
    ),
    KeyFormat("Figma token", ("figd_",), rf"figd_{_BASE64URL}{{38,44}}", "-"),
    KeyFormat(
        "Sentry token",
        ("sntrys_", "sntryu_"),
        r"(?:sntrys_[A-Za-z0-9+/=_]{80,300}|sntryu_[0-9a-f]{64})",
        "+/-",
    ),
    KeyFormat("New Relic key", ("NRAK-", "NRJS-"), r"(?:NRAK-[A-Z0-9]{27}|NRJS-[0-9a-f]{19})"),
    KeyFormat(
        "Dynatrace token", ("dt0c01.", "dt0s16."), r"dt0[cs]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"
    ),
    KeyFormat(
        "Doppler token",
        ("dp.pt.", "dp.st.", "dp.ct."),
        r"dp\.(?:pt|ct|st(?:\.[a-z0-9_-]{2,35})?)\.[A-Za-z0-9]{40,44}",
    ),
    KeyFormat("1Password token", ("ops_eyJ",), r"ops_eyJ[A-Za-z0-9+/]{200,2000}={0,2}", "+/-"),
    KeyFormat(
        "Tailscale key",
        ("tskey-",),
        r"tskey-[a-z]{2,15}-[A-Za-z0-9]{8,20}(?:CNTRL)?-[A-Za-z0-9]{20,40}",
    ),
    KeyFormat(
        "age secret key",
        ("AGE-SECRET-KEY-1",),
        r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
    ),
    # RFC 7519: three parts, the first two of which are JSON objects
    KeyFormat(
        "JSON Web Token",
        ("eyJ",),
        # Possessive, as "." ends each part anyway: one that has none costs no second look.
        rf"{BEFORE_KEY}eyJ{_BASE64URL}{{10,2000}}+\.eyJ{_BASE64URL}{{10,6000}}+"
        rf"\.{_BASE64URL}{{20,1000}}",
        "-",
    ),
    # RFC 7468; the end may be missing where a text is cut off
    KeyFormat(
        "private key",
        ("PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"),
        r"-----BEGIN (?:[A-Z0-9 ]{1,20} )?PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[A-Za-z0-9+/=\s:,.\\\"']|-(?!-)){0,20000}"
        r"(?:-----END [A-Z0-9 ]{0,25}PRIVATE KEY(?: BLOCK)?-----)?",
    ),
    # PuTTY's manual, "PPK file format"
    KeyFormat(
        "private key",
        ("Private-Lines: ",),
        r"Private-Lines: \d{1,3}\s{1,2}(?:[A-Za-z0-9+/=]{1,64}\s{1,2}){1,60}",
    ),
)
