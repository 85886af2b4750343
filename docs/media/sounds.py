"""Makes the page's sounds, each from sines, decays and a little noise: `make media`.

Mono, 16 bits, 22,050 samples a second. Two runs give the same bytes on one machine; another one's
sines may differ by one step of 65,536.
"""

import array
import math
import random
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Final

RATE: Final = 22_050
PLACE: Final = Path(__file__).parents[2] / "server" / "web" / "sounds"

Wave = list[float]
"""Samples from -1 to 1."""


def ding() -> Wave:
    """One bell."""
    return _bell(1318.5, 0.70, 0.22)


def chime() -> Wave:
    """Three bells, one after the other, each ringing on."""
    sound = _silence(1.20)
    for number, pitch in enumerate((784.0, 987.8, 1174.7)):
        _add(sound, _bell(pitch, 1.20 - 0.16 * number, 0.26), at=0.16 * number, share=0.55)
    return sound


def pop() -> Wave:
    """A drop: a sine that glides up and is gone, with a click where it begins."""
    noise = random.Random(1)
    sound, phase = _silence(0.14), 0.0
    for i in range(len(sound)):
        seconds = i / RATE
        phase += 2 * math.pi * (320 + 2600 * seconds) / RATE
        click = noise.uniform(-0.3, 0.3) * math.exp(-seconds / 0.002)
        sound[i] = math.sin(phase) * math.exp(-seconds / 0.03) + click
    return sound


def choochoo() -> Wave:
    """A small train: two calls of its whistle, then four chuffs."""
    sound = _silence(1.55)
    _add(sound, _whistle(0.22), at=0.0, share=0.8)
    _add(sound, _whistle(0.45), at=0.28, share=0.8)
    for number in range(4):
        _add(sound, _chuff(number), at=0.82 + 0.18 * number, share=1.0 - 0.12 * number)
    return sound


SOUNDS: Final[dict[str, Callable[[], Wave]]] = {
    made.__name__: made for made in (ding, chime, pop, choochoo)
}


def _bell(pitch: float, seconds: float, decay: float) -> Wave:
    """Partials of a struck bar; the higher ones die sooner."""
    sound = _silence(seconds)
    for partial, loudness in ((1.0, 1.0), (2.0, 0.45), (2.76, 0.3), (5.4, 0.14)):
        turn = 2 * math.pi * pitch * partial / RATE
        fall = decay / math.sqrt(partial)
        for i in range(len(sound)):
            sound[i] += loudness * math.sin(turn * i) * math.exp(-i / RATE / fall)
    return sound


def _whistle(seconds: float) -> Wave:
    """Three pipes and the steam in them."""
    noise, sound = random.Random(2), _silence(seconds)
    for i in range(len(sound)):
        now = i / RATE
        swell = min(1.0, now / 0.04, (seconds - now) / 0.06)
        pipes = sum(math.sin(2 * math.pi * pitch * now) for pitch in (311.1, 370.0, 466.2))
        sound[i] = swell * (pipes / 3 + noise.uniform(-0.12, 0.12))
    return sound


def _chuff(number: int) -> Wave:
    """A puff of steam: noise without its high parts."""
    noise, sound, low = random.Random(3 + number), _silence(0.16), 0.0
    for i in range(len(sound)):
        now = i / RATE
        low += 0.22 * (noise.uniform(-1, 1) - low)
        sound[i] = low * min(1.0, now / 0.008) * math.exp(-now / 0.05)
    return sound


def _silence(seconds: float) -> Wave:
    return [0.0] * round(seconds * RATE)


def _add(sound: Wave, more: Wave, *, at: float, share: float) -> None:
    start = round(at * RATE)
    for i, sample in enumerate(more[: len(sound) - start]):
        sound[start + i] += share * sample


def samples(sound: Wave) -> "array.array[int]":
    """As loud as a note may be, without a click at either end; 16 bits each."""
    peak = max(map(abs, sound))
    fade = round(0.004 * RATE)
    end = len(sound) - 1
    steps = (
        sample / peak * 0.7 * min(1.0, i / fade * 4, (end - i) / fade)
        for i, sample in enumerate(sound)
    )
    return array.array("h", (round(step * 32_767) for step in steps))


def write(folder: Path) -> None:
    """All sounds, as WAV files in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in SOUNDS.items():
        with wave.open(str(folder / f"{name}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(samples(made()).tobytes())


if __name__ == "__main__":
    write(PLACE)
