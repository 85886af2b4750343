"""What the first conversation needs, loaded before anybody waits for it.

Markdown and the colours of code take a tenth of a second to import. For a thread: whoever types
meanwhile is hardly held up by one.
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
    """Import it, and draw a little of each kind; once, however often it is called."""
    import tui.transcript.widget  # noqa: F401 - for those who import it later
    from model.richtext.markdown import parse_markdown
    from tui.draw.colors import palette
    from tui.draw.markdown import render_block

    colours = palette("dark", "vitesse-black")
    for block in parse_markdown(_SAMPLE):
        render_block(block, 80, colours)
