"""Pastes as terminals send them, however they are cut on the way."""

import pytest
from textual import events

from tui import pasting
from tui.pasting import QuickParser

PASTE = "\x1b[200~{}\x1b[201~"


def parsed(*pieces: str) -> list[str]:
    parser = QuickParser()
    found = [event for piece in pieces for event in parser.feed(piece)]
    return [
        event.text if isinstance(event, events.Paste) else event.key
        for event in found
        if isinstance(event, events.Paste | events.Key)
    ]


@pytest.mark.parametrize("size", range(3, 12))
def test_a_paste_comes_whole_in_whatever_pieces_it_is_sent(size: int) -> None:
    sent = "a" + PASTE.format("one\x1b[31m\r\n[201~ two") + "b" + PASTE.format("") + "\x1b[A"
    pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
    assert parsed(*pieces) == ["a", "one\x1b[31m\r\n[201~ two", "b", "", "up"]


def test_half_of_a_pastes_beginning_is_a_key_when_nothing_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parser = QuickParser()
    assert list(parser.feed("\x1b[20")) == []
    monkeypatch.setattr(pasting, "_PATIENCE", -1.0)
    assert list(parser.tick()) == []
    assert [event.key for event in parser.feed("~") if isinstance(event, events.Key)] == ["f9"]


def test_a_megabyte_is_one_paste() -> None:
    text = "0123456789abcde\n" * 65536
    sent = PASTE.format(text)
    assert parsed(*(sent[at : at + 4096] for at in range(0, len(sent), 4096))) == [text]


def test_keys_around_a_paste_keep_their_places() -> None:
    assert parsed("x" + PASTE.format("p") + "y" + PASTE.format("q")) == ["x", "p", "y", "q"]
