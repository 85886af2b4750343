"""Guests see no part of a key or password, wherever a text begins, ends or is interrupted."""

import random
import string
from collections.abc import Callable

import pytest

from model.access.masked_text import MAX_HELD, MaskedText
from model.access.shapes import mask_json, show_output
from model.secrets.scanner import find_for_guests, find_secrets, mask_for_guests, mask_secrets
from tests.text_cost import MAX_GROWTH, measure_growth

_ALPHABET = string.ascii_letters + string.digits + "+/"


def make_key(lines: int, width: int = 64, kind: str = "RSA PRIVATE KEY") -> tuple[str, list[str]]:
    """A private key in its usual form, and the lines that are secret."""
    drawn = random.Random(lines)
    body = ["".join(drawn.choices(_ALPHABET, k=width)) for _ in range(lines)]
    body.append("".join(drawn.choices(_ALPHABET, k=22)) + "==")
    return f"-----BEGIN {kind}-----\n" + "\n".join(body) + f"\n-----END {kind}-----\n", body


KEY, LINES = make_key(25)

FORMS: dict[str, Callable[[str], str]] = {
    "plain": lambda key: key,
    "indented": lambda key: "".join(f"    {line}\n" for line in key.splitlines()),
    "added": lambda key: "".join(f"+{line}\n" for line in key.splitlines()),
    "removed": lambda key: "".join(f"-{line}\n" for line in key.splitlines()),
    "numbered": lambda key: "".join(f"{n:6}\t{x}\n" for n, x in enumerate(key.splitlines(), 1)),
    "quoted": lambda key: "".join(f"    '{line}\\n'\n" for line in key.splitlines()),
    "windows": lambda key: key.replace("\n", "\r\n"),
}


DECORATED = ("id_rsa:{n}:{line}", "# {line}", "| {n} | {line} |", "{n:6}→{line}", "- `{line}`",
    "{line}<br>", "{line}$", "1f0c3e2a (Ada 2026-01-01 {n}) {line}")  # fmt: skip


def leaks(text: str | None, lines: list[str] = LINES) -> list[str]:
    return [line for line in lines if line in (text or "")]


@pytest.mark.parametrize("form", FORMS)
def test_no_line_of_a_key_is_shown_of_any_part_of_it(form: str) -> None:
    shown = FORMS[form](KEY).splitlines(keepends=True)
    for first in range(len(shown)):
        part = "".join(shown[first:])
        assert leaks(mask_for_guests(part)) == [], f"from line {first}"
        assert leaks(show_output("cut\n" + part)) == [], f"from line {first}, as output"
        middle = "".join(shown[first : first + 4])
        assert leaks(mask_for_guests(middle), LINES[:-1]) == [], f"four lines from {first}"


@pytest.mark.parametrize("form", DECORATED)
def test_a_key_is_masked_from_its_begin_on_whatever_its_lines_have_around_them(form: str) -> None:
    lines = [form.format(n=n, line=line) for n, line in enumerate(KEY.splitlines(), 1)]
    shown = "\n".join(["before", *lines, "after"])
    assert leaks(mask_for_guests(shown)) == []
    assert mask_for_guests(shown).splitlines()[0] == "before"
    assert mask_for_guests(shown).splitlines()[-1] == "after"
    streamed = MaskedText()
    pieces = [streamed.append(shown[at : at + 50]) for at in range(0, len(shown), 50)]
    assert leaks("".join([*pieces, streamed.finish()])) == []


def test_a_key_that_is_only_named_hides_nothing() -> None:
    text = "A file that begins with `-----BEGIN RSA PRIVATE KEY-----` is one. " + "So it is. " * 50
    assert mask_for_guests(text).endswith("So it is. ")


def test_a_key_within_json_that_is_cut_off_is_masked() -> None:
    text = '{"private_key": "' + KEY.replace("\n", "\\n") + '", "client_id": "1"}'
    at = text.index(LINES[3])
    for part in (text, text[at:], text[at : text.index(LINES[9])]):
        assert leaks(mask_for_guests(part)) == []
    assert '"client_id": "1"' in mask_for_guests(text[at:])
    assert leaks(str(mask_json({"input": {"old_string": "\n".join(LINES[2:7])}}))) == []


def test_the_end_of_a_key_is_found_without_its_begin_and_what_stands_before_stays() -> None:
    part = (
        "running checks\n\nall good here\n" + "\n".join(LINES[-3:]) + "\n-----END PRIVATE KEY-----"
    )
    assert mask_secrets(part) == "running checks\n\nall good here\n[private key]"
    pgp = f"{LINES[0]}\n{LINES[1][:20]}\n=njUN\n-----END PGP PRIVATE KEY BLOCK-----\nnext"
    assert mask_secrets(pgp) == "[private key]\nnext"
    certificate = "\n".join(LINES[-3:]) + "\n-----END CERTIFICATE-----"
    assert mask_secrets(certificate) == certificate


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
@pytest.mark.longer
def test_a_key_longer_than_what_is_held_back_is_masked_while_it_streams(size: int) -> None:
    key, lines = make_key(3 * MAX_HELD // 64)
    text = f"Here it is.\n{key}Done.\n"
    masked = MaskedText()
    shown = "".join(masked.append(text[at : at + size]) for at in range(0, len(text), size))
    shown += masked.finish()
    assert leaks(shown, lines) == []
    assert shown.startswith("Here it is.\n") and shown.endswith("\nDone.\n")


VALUE = "wJa1rXUtnFEMI7K7MDENGbPx3fiCYzzMP1EKEYa1"


@pytest.mark.parametrize(
    "text",
    [
        f"AWS_SECRET_ACCESS_KEY=\n{VALUE}\n",
        f"client_secret:\n\n    {VALUE}\n",
        f'api_key:\n  "{VALUE}"\n',
        f"secret = '''\n{VALUE}\n'''\n",
        f"password: |\n  {VALUE}\n",
        f"token: >-\r\n  {VALUE}\r\n",
        f"curl -H 'X: y' Bearer {VALUE}\n",
        f"authorization: Basic {VALUE}==\n",
    ],
)
def test_a_value_below_its_name_or_behind_bearer_is_masked_whole_and_streamed(text: str) -> None:
    assert VALUE not in mask_secrets(text)
    for size in (1, 5, 40):
        masked = MaskedText()
        pieces = [masked.append(text[at : at + size]) for at in range(0, len(text), size)]
        assert VALUE not in "".join([*pieces, masked.finish()])
    assert VALUE not in (show_output(f"cut\nmore\n{text}") or "")
    assert VALUE not in (show_output(text) or ""), "the name is the line that is left out"


def test_a_token_behind_bearer_need_not_be_random() -> None:
    token = "abcdefghij0123456789ABCDEFGHIJ0123456789"
    assert mask_secrets(f"Bearer {token}. Done") == "Bearer [password or token] Done"
    documented = "Authorization: Bearer YOUR_API_TOKEN_OF_2026, Bearer ${GITHUB_TOKEN_2}"
    assert mask_secrets(documented) == documented


@pytest.mark.parametrize(
    "text",
    [
        "secret:\n  name: database-password-1\n",
        "token =\n  get_token(request)\n",
        "The bearer of this letter, basic instructions included, is welcome.",
        "password:\n\nSee the documentation of authentication.\n",
        "3a5f0c9b7d1e4f62a8c0b9d7e6f5a4b3c2d1e0f93a5f0c9b7d1e4f62a8c0b9d7\n",
        "a/very/long/path/in/the/tree/of/the/project/that/has/many/folders/x.py\n",
    ],
)
def test_ordinary_text_of_that_form_stays(text: str) -> None:
    assert mask_for_guests(text) == text


@pytest.mark.parametrize(
    "unit",
    [
        "-----END PRIVATE KEY-----\n", "aB3" * 22 + "\n", "aB3" * 22 + "\\n", "aB3" * 100,
        "\\\\\\\\\\\\\\\\n", "secret=\n", "secret:\n\n\n", "bearer a",
        "a1B2\n-----END PRIVATE KEY-----",
        "\n", "+++++ \n", "123 456\n",
    ],
)  # fmt: skip
def test_the_cost_is_linear(unit: str) -> None:
    def write(size: int) -> str:
        return unit * (size // len(unit))

    for find in (find_secrets, find_for_guests):
        assert measure_growth(find, write) <= MAX_GROWTH
