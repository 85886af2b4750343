"""Contact sheets of the page's components: all widths beside each other, dark and light.

make components
"""

import sys
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
WIDTHS = (390, 820, 1440, 2560)
SCALE = 0.5
GAP = 16
"""Pixels between two pictures."""
GROUNDS = {"dark": "#0b0d0c", "light": "#ffffff"}


def lay_out(folder: Path, scheme: str) -> Image.Image:
    """The pictures of one color scheme, side by side."""
    pictures = []
    for width in WIDTHS:
        picture = Image.open(folder / f"components-{width}-{scheme}.png").convert("RGB")
        scale = SCALE * width / picture.width  # a phone's picture has more pixels than its width
        pictures.append(
            picture.resize((round(picture.width * scale), round(picture.height * scale)))
        )
    width = sum(picture.width for picture in pictures) + GAP * (len(pictures) + 1)
    height = max(picture.height for picture in pictures) + 2 * GAP
    sheet = Image.new("RGB", (width, height), GROUNDS[scheme])
    left = GAP
    for picture in pictures:
        sheet.paste(picture, (left, GAP))
        left += picture.width + GAP
    return sheet


if __name__ == "__main__":
    for scheme in GROUNDS:
        path = HERE / f"components-{scheme}.jpg"
        lay_out(Path(sys.argv[1]), scheme).save(path, quality=60)
