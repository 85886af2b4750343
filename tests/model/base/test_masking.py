"""The mask of the log finds keys whatever touches them, and leaves words that look similar."""

import pytest

from model.base.masking import MASK, SecretMasker
from tests.model.secrets.fake_keys import BEFORE, BEHIND, FORMATS

KINDS = ("github-personal", "github-fine", "aws", "openai-project", "anthropic", "slack-bot", "jwt")


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_is_masked_whole_whatever_escape_or_mark_it_touches(kind: str) -> None:
    key, mask = FORMATS[kind](), SecretMasker()
    for before in BEFORE:
        for behind in BEHIND:
            # A "_" behind may be one of the key's characters.
            masked = {f"{before}{MASK}{rest}" for rest in (behind, behind.removeprefix("_"))}
            assert mask(f"{before}{key}{behind}") in masked


@pytest.mark.parametrize(
    "text",
    [
        "task-force-of-the-company",
        "disk-usage-of-all-volumes",
        "laughs_at_jokes_of_the_others",
        "xAKIAIOSFODNN7EXAMPLE",
        "3Dghp_0123456789abcdefghij",
        "31mghp_0123456789abcdefghij",
    ],
)
def test_a_word_that_contains_the_beginning_of_a_key_is_left(text: str) -> None:
    assert SecretMasker()(text) == text
