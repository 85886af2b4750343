"""Numbers as short texts."""


def format_number(number: int) -> str:
    """`950`, `12.4k`, `1.2M`."""
    if number < 1000:
        return str(number)
    if number < 999_950:
        return f"{number / 1000:.1f}k"
    return f"{number / 1_000_000:.1f}M"
