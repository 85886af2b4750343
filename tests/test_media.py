"""The page's sounds and icons match the scripts in `docs/media`, which generate them."""

import array
import wave
from pathlib import Path

from docs.media import icons, sounds
from model.preferences.fields import preference_fields
from server.static import WEB


def read_samples(path: Path) -> "array.array[int]":
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        assert file.getframerate() == sounds.RATE
        return array.array("h", file.readframes(file.getnframes()))


def test_the_sounds_are_made_by_their_script(tmp_path: Path) -> None:
    sounds.write(tmp_path)
    for name in sounds.SOUNDS:
        made, kept = (
            read_samples(tmp_path / f"{name}.wav"),
            read_samples(WEB / "sounds" / f"{name}.wav"),
        )
        assert len(made) == len(kept)
        # The last digit of a sine may differ between machines.
        assert max(abs(a - b) for a, b in zip(made, kept, strict=True)) <= 1, name


def test_a_sound_begins_and_ends_in_silence_and_is_short() -> None:
    for name in sounds.SOUNDS:
        found = read_samples(WEB / "sounds" / f"{name}.wav")
        assert len(found) <= 1.6 * sounds.RATE
        assert abs(found[0]) < 300 and abs(found[-1]) < 300
        assert 0.6 * 32767 < max(map(abs, found)) < 0.75 * 32767


def test_each_choice_of_a_sound_has_a_file() -> None:
    wanted = set(preference_fields()["waiting_sound"].choices) - {"none"}
    assert wanted == set(preference_fields()["review_sound"].choices) - {"none"}
    assert {path.stem for path in (WEB / "sounds").iterdir()} == wanted


def test_the_icons_are_made_by_their_script() -> None:
    assert (WEB / "icon.svg").read_text() == icons.svg()
    assert (WEB / "icons" / "192.png").read_bytes() == icons.png(192)
