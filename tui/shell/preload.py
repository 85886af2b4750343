"""Imports what the first conversation needs before it is opened.

Markdown and syntax highlighting take a tenth of a second to import. Run this in a thread, which
hardly delays typing.
"""

from functools import lru_cache
from typing import Final

_SAMPLE: Final = """\
Words, *some* of **them** with `code`.

- a list

| a | table |
| - | ----- |
| 1 | 2     |

```python
def code(): ...
```
"""


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Import the modules and draw a sample of each kind of block; does its work only once."""
    import tui.transcript.widget  # noqa: F401 - preloaded for later imports
    from model.richtext.markdown import parse_markdown
    from tui.draw.colors import get_palette
    from tui.draw.markdown import render_block

    colors = get_palette("dark", "vitesse-black")
    for block in parse_markdown(_SAMPLE):
        render_block(block, 80, colors)
