"""Looks up list prices of models, as a program of its own: `price_lookup.py MODELS`, both JSON.

The package `genai-prices` takes 0.4 s to import and 25 MB of memory, which a running Spinney does
not have to keep. It has its own list of prices; nothing is requested from anywhere.
"""

import json
import sys
from typing import Any, Final

from genai_prices import Usage, calc_price

_TOKENS: Final = 1000
"""Few enough for the price of short requests."""


def look_up(model: str) -> dict[str, float] | None:
    """Return the prices in dollars for each token by kind; `None` for an unknown model.

    The name may begin with a provider: `openai/gpt-5`.
    """
    provider, _, name = model.rpartition("/")
    for arguments in ({"model_ref": name, "provider_id": provider or None}, {"model_ref": name}):
        try:
            return _look_up(arguments)
        except (LookupError, ValueError):
            continue
    return None


def _look_up(arguments: dict[str, Any]) -> dict[str, float] | None:
    usages = {
        "input": Usage(input_tokens=_TOKENS),
        "output": Usage(output_tokens=_TOKENS),
        "cache_write": Usage(input_tokens=_TOKENS, cache_write_tokens=_TOKENS),
        "cache_read": Usage(input_tokens=_TOKENS, cache_read_tokens=_TOKENS),
    }
    prices = {
        kind: float(calc_price(usage, **arguments).total_price) / _TOKENS
        for kind, usage in usages.items()
    }
    return prices if prices["input"] or prices["output"] else None


if __name__ == "__main__":
    models = json.loads(sys.argv[1])
    json.dump({model: look_up(model) for model in models}, sys.stdout)
