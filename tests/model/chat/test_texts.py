"""Recognizing plans in text, in several languages."""

import pytest

from model.chat.texts import looks_like_plan

STEPS = "\n1. lesen\n2. schreiben"


@pytest.mark.parametrize(
    "words",
    [
        "My plan:",
        "The steps are",
        "Mein Umsetzungsplan:",
        "Die nächsten Schritte",
        "Voici les étapes :",
        "Los pasos son:",
        "Os passos:",
        "Ecco i passi:",
        "Kolejne kroki:",
        "План действий:",
        "实施计划：",
        "手順は次のとおり",
        "다음 단계",
    ],
)
def test_steps_below_a_word_for_plan_are_a_plan(words: str) -> None:
    assert looks_like_plan(words + STEPS)


@pytest.mark.parametrize("sign", [".", ")", "、"])
def test_three_numbered_steps_are_a_plan_in_any_language(sign: str) -> None:
    steps = "\n".join(f"{number}{sign} adım" for number in (1, 2, 3))
    assert looks_like_plan(f"Şöyle yapacağım:\n\n{steps}\n\nHepsi bu.")
    assert not looks_like_plan(f"{steps}\n\nHangisi?")


@pytest.mark.parametrize(
    "text",
    [
        "There are two files:" + STEPS,
        "An explanation, in plants and planes:" + STEPS,
        "My plan: write it.\n- once",
        "Der Schrittmacher:" + STEPS,
    ],
)
def test_other_lists_are_no_plan(text: str) -> None:
    assert not looks_like_plan(text)


def test_long_texts_are_handled_quickly() -> None:
    assert not looks_like_plan("plan" + "\n" * 200_000)
    assert not looks_like_plan("x" * 200_000)
