"""Contrast between a color and its background, and the nearest color with enough of it.

Some themes have colors below 4.5 : 1, the ratio that WCAG requires for text. Such a color keeps its
hue; only its lightness moves away from the background, as little as necessary.
"""

from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

TEXT: Final = 4.5
"""The contrast ratio required for text (WCAG 2.2, level AA)."""

_MIN_WORD_CONTRAST: Final = 1.25
"""The contrast between a changed line and the changed words in it, which are also bold."""
_STEP: Final = 0.005
# Below this luminance white has the better contrast, above it black.
_MIDDLE: Final = 0.179

_Triple = tuple[float, float, float]


@lru_cache(maxsize=4096)
def luminance(color: str) -> float:
    """The relative luminance of `#rrggbb`, 0 to 1."""
    red, green, blue = _linear(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colors, 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def is_dark(color: str) -> bool:
    """Whether white text has more contrast on it than black text."""
    return luminance(color) < _MIDDLE


def mixed(color: str, background: str, share: float) -> str:
    """Blend `share` (0 to 1) of the color over the background."""
    pairs = zip(_channels(color), _channels(background), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


@lru_cache(maxsize=8192)
def readable(color: str, *backgrounds: str, ratio: float = TEXT) -> str:
    """Return the color, or its nearest lightness with this contrast on every background."""
    if _min_contrast(color, backgrounds) >= ratio:
        return color
    light, a, b = _to_oklab(_linear(color))
    step = _STEP if is_dark(min(backgrounds, key=luminance)) else -_STEP
    counts = range(1, int((1 - light if step > 0 else light) / _STEP) + 1)

    def is_enough(count: int) -> bool:
        return _min_contrast(_from_oklab((light + count * step, a, b)), backgrounds) >= ratio

    index = bisect_left(counts, True, key=is_enough)
    if index < len(counts):
        return _from_oklab((light + counts[index] * step, a, b))
    return max("#ffffff", "#000000", key=lambda end: _min_contrast(end, backgrounds))


def word_ground(sign: str, background: str) -> str:
    """The background of changed words: the least of the sign's color that stands out."""
    shares = (share / 100 for share in range(10, 60))
    backgrounds = (mixed(sign, background, share) for share in shares)
    return next(
        (each for each in backgrounds if contrast(each, background) >= _MIN_WORD_CONTRAST),
        background,
    )


def _min_contrast(color: str, backgrounds: Iterable[str]) -> float:
    return min(contrast(color, background) for background in backgrounds)


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _linear(color: str) -> _Triple:
    red, green, blue = (_to_linear(channel / 255) for channel in _channels(color))
    return red, green, blue


def _to_linear(share: float) -> float:
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)


def _from_linear(share: float) -> int:
    share = min(max(share, 0.0), 1.0)
    gamma = share * 12.92 if share <= 0.0031308 else 1.055 * share ** (1 / 2.4) - 0.055
    return round(gamma * 255)


# Björn Ottosson's OKLab: its lightness can change without changing the perceived hue.


def _to_oklab(rgb: _Triple) -> _Triple:
    red, green, blue = rgb
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def _from_oklab(lab: _Triple) -> str:
    light, a, b = lab
    long = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (light - 0.0894841775 * a - 1.2914855480 * b) ** 3
    rgb = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    return "#" + "".join(f"{_from_linear(share):02x}" for share in rgb)
