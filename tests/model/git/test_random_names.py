"""Names for new worktrees."""

from itertools import islice

from model.git.random_names import _pairs, random_name
from model.git.refs import check_branch_name


def test_a_name_is_two_words_and_a_valid_branch() -> None:
    name = random_name([])
    assert len(name.split("-")) == 2
    assert check_branch_name(name) == name


def test_there_are_enough_names_without_duplicates() -> None:
    pairs = list(_pairs())
    assert len(pairs) == len(set(pairs)) > 20_000
    assert all(word.isascii() and word.islower() for pair in pairs for word in pair)


def test_a_taken_name_is_never_given_whatever_its_case() -> None:
    names = [f"{quality}-{creature}" for quality, creature in _pairs()]
    free = names[-1]
    assert random_name([name.upper() for name in names[:-1]]) == free


def test_names_are_numbered_when_all_are_taken() -> None:
    names = {f"{quality}-{creature}" for quality, creature in islice(_pairs(), None)}
    assert random_name(names) == f"{next('-'.join(pair) for pair in _pairs())}-2"
