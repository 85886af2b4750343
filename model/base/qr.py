"""QR codes as rows of modules."""


def qr_rows(text: str) -> list[str]:
    """The rows of the QR code of a text, without a margin: a `1` is dark."""
    import segno

    # The lowest error correction, because a small code matters more on a screen.
    matrix = segno.make_qr(text, error="l", boost_error=False).matrix
    return ["".join(map(str, row)) for row in matrix]
