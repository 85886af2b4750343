"""Secrets are found in all forms in which people write them, and ordinary text has none."""

import sysconfig
from pathlib import Path

import pytest

from model.secrets.formats import KEY_FORMATS, KeyFormat
from model.secrets.scanner import find_secrets, mask_secrets
from tests.model.secrets.fake_keys import FORMATS, fake_keys
from tests.text_cost import MAX_GROWTH, measure_growth


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
        for more in ("", "A", "0a", "eyJ", " ", "\n", "-----BEGIN PRIVATE KEY-----"):
            unit = hint + more

            def write(size: int, unit: str = unit) -> str:
                return unit * (size // len(unit)) + "\x01"

            assert measure_growth(find_secrets, write) <= MAX_GROWTH, unit


def _parts(key: str) -> list[str]:
    """Long pieces of a key, none of which may be left."""
    return [key[at : at + 12] for at in range(12, len(key) - 12, 12) if "\n" not in key]
