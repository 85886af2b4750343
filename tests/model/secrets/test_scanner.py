"""Secrets are found in all forms in which people write them, and ordinary text has none."""

import itertools
import sysconfig
from pathlib import Path
from typing import Final

import pytest

from model.secrets.formats import KEY_FORMATS, KeyFormat
from model.secrets.scanner import find_secrets, mask_for_guests, mask_secrets
from tests.model.secrets.fake_keys import BEFORE, BEHIND, FORMATS, fake_keys
from tests.text_cost import MAX_GROWTH, measure_growth

_KNOWN_OTHERWISE: Final = {"private-key", "openssh-key", "azure-storage"}
"""By their last line, or as the value of a name."""
_BETWEEN: Final = "\n\0\n"


def test_of_200_fake_keys_95_percent_are_found_whole() -> None:
    missed = []
    for kind, key, line in fake_keys(200):
        text = f"import os\n{line}\nprint('done')\n"
        masked = mask_secrets(text)
        if key in masked or any(part in masked for part in _parts(key)):
            missed.append((kind, line))
    assert len(missed) <= 10, missed


@pytest.mark.parametrize("kind", FORMATS)
def test_a_key_of_each_known_format_is_found(kind: str) -> None:
    key = FORMATS[kind]()
    found = find_secrets(f"see {key} there")
    assert [(secret.start, secret.end) for secret in found] == [(4, 4 + len(key))]
    assert found[0].label in {key_format.label for key_format in KEY_FORMATS}


@pytest.mark.few(25)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_key_is_masked_whole_whatever_escape_or_mark_it_touches(kind: str) -> None:
    key = FORMATS[kind]()
    label = find_secrets(key)[0].label
    edges = list(itertools.product(BEFORE, BEHIND))
    # As one text, which is ten times as fast.
    text = _BETWEEN.join(f"{before}{key}{behind}" for before, behind in edges)
    for (before, behind), masked in zip(edges, mask_secrets(text).split(_BETWEEN), strict=True):
        assert masked.startswith(f"{before}[{label}]")
        # What stands behind may be masked, too: "_" is a character of many keys.
        assert behind.endswith(masked.removeprefix(f"{before}[{label}]"))
    # To guests, some look like a line of a key, which has another label.
    shown = mask_for_guests(text)
    assert not any(part in shown for part in (key[:6], key[-6:]))


def test_a_key_that_begins_with_digits_is_distinguished_from_an_escape() -> None:
    key = FORMATS["telegram"]()
    assert mask_secrets(f"%20{key[1:]}%20{key}") == "%20[Telegram bot token]%20[Telegram bot token]"


def test_the_fake_keys_have_every_label() -> None:
    labels = {find_secrets(make())[0].label for make in FORMATS.values()}
    assert labels == {key_format.label for key_format in KEY_FORMATS}


@pytest.mark.parametrize("kind", sorted(FORMATS.keys() - _KNOWN_OTHERWISE))
def test_a_key_within_a_word_is_none(kind: str) -> None:
    key = FORMATS[kind]()
    for before in ("x", "n", "3D", "33m", "x20", "u003d", "%n", r"\xn", r"\w", r"\un00d"):
        assert find_secrets(f"{before}{key}") == []
    # If the length varies, the letter may be one of the key's.
    assert mask_secrets(f"{key}x") in (f"{key}x", f"[{find_secrets(key)[0].label}]")


@pytest.mark.parametrize("before", [r"\n", "%20", "\x1b[31m"])
def test_a_token_that_is_sent_is_found_behind_an_escape(before: str) -> None:
    text = f"{before}Bearer abcdefghijklmnopqrstuvwxyz0123456789"
    assert mask_secrets(text) == f"{before}Bearer [password or token]"


@pytest.mark.longer
def test_ordinary_code_and_text_have_at_most_one_false_alarm_in_1000_lines() -> None:
    root = Path(__file__).parents[3]
    library = Path(sysconfig.get_path("stdlib"))
    files = [
        *(root / "model").rglob("*.py"),
        *(root / "docs").rglob("*.md"),
        *(root / "server" / "web").rglob("*.[jc]s*"),
        *library.glob("*.py"),
        *(library / "email").rglob("*.py"),
        *(library / "http").rglob("*.py"),
    ]
    lines, alarms = 0, []
    for file in files:
        text = file.read_text("utf-8", "replace")
        lines += text.count("\n")
        alarms += [(file.name, text[found.start : found.end]) for found in find_secrets(text)]
    assert lines > 100_000
    assert len(alarms) * 1000 <= lines, alarms


@pytest.mark.parametrize(
    "line",
    [
        'password = "example-password-123"',
        "API_KEY=${API_KEY_FROM_VAULT_2}",
        'token = os.environ["GITHUB_TOKEN_2"]',
        'secret = get_secret("db/password1")',
        "password: <your password here 123>",
        "token: {{ secrets.DEPLOY_TOKEN_V2 }}",
        'key = "getAccessTokenFromHeader"',
        "auth_token: str = field(default=None)",
        "integrity sha512-oeFp0G1k4Lk4p8OSyf8pbn2QZ6rWpDBAHhRZ2bN1XyXqLNB4Jd8mYw==",
        "commit 3a5f0c9b7d1e4f62a8c0b9d7e6f5a4b3c2d1e0f9",
        "https://example.com/a/path:8080/with@sign",
        "sk-not-a-key, ghp_short, AKIA2SHORT, eyJ.not.a.token",
    ],
)
def test_placeholders_variables_calls_hashes_and_names_are_no_secrets(line: str) -> None:
    assert find_secrets(line) == []


def test_a_masked_text_says_what_was_there_and_keeps_the_rest() -> None:
    key = FORMATS["github-personal"]()
    assert mask_secrets(f"Use {key}, then go on.") == "Use [GitHub token], then go on."


def test_a_private_key_is_masked_to_its_end_or_as_far_as_it_was_cut_off() -> None:
    key = FORMATS["private-key"]()
    assert mask_secrets(f"a\n{key}\nb") == "a\n[private key]\nb"
    assert mask_secrets(f"a\n{key[:300]}") == "a\n[private key]"


def test_a_key_within_an_assignment_is_masked_once() -> None:
    key = FORMATS["openai-project"]()
    assert mask_secrets(f'OPENAI_API_KEY="{key}"') == 'OPENAI_API_KEY="[OpenAI key]"'


@pytest.mark.longer
@pytest.mark.parametrize("key_format", KEY_FORMATS, ids=lambda key_format: key_format.label)
def test_a_longer_hostile_text_takes_longer_in_proportion(key_format: KeyFormat) -> None:
    for hint in key_format.hints:
        for more in (
            "",
            "A",
            "0a",
            "_",
            r"\n",
            "%20",
            "\x1b[31m",
            "eyJ",
            "_eyJ",
            " ",
            "\n",
            "-----BEGIN PRIVATE KEY-----",
        ):
            unit = hint + more

            def write(size: int, unit: str = unit) -> str:
                return unit * (size // len(unit)) + "\x01"

            assert measure_growth(find_secrets, write) <= MAX_GROWTH, unit


def _parts(key: str) -> list[str]:
    """Long pieces of a key, none of which may be left."""
    return [key[at : at + 12] for at in range(12, len(key) - 12, 12) if "\n" not in key]
