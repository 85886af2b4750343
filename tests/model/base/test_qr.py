"""QR codes: their modules, and two rows of them in a line of the terminal."""

import segno

from model.base.qr import half_blocks, qr_rows


def test_half_blocks_hold_two_rows_of_modules_each() -> None:
    assert half_blocks(["101", "110", "010"], 0) == ["█▄▀", " ▀ "]
    assert half_blocks(["1"], 1) == [" ▄ ", "   "]


def test_the_code_of_an_address_has_33_modules() -> None:
    address = "http://192.168.1.10:3456/#token=" + "t" * 43
    rows = qr_rows(address)
    code = segno.make_qr(address, error="l", boost_error=False)
    assert code.version == 4
    assert len(rows) == len(rows[0]) == 33
    assert rows == ["".join(str(int(module)) for module in row) for row in code.matrix]
