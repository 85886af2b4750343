"""Fonts of the configuration folder: only font files with known names are served."""

from pathlib import Path

from server.fonts import MAX_FONT_BYTES, font_files

FONT = b"wOF2 and what follows"


def test_without_the_folder_the_style_sheet_is_empty(tmp_path: Path) -> None:
    assert font_files(tmp_path / "fonts") == {"/fonts.css": b""}


def test_a_variable_font_serves_all_weights_and_one_with_a_bold_file_its_own(
    tmp_path: Path,
) -> None:
    for name in ("inter", "lato", "lato-bold", "lato-bold-italic"):
        (tmp_path / f"{name}.woff2").write_bytes(FONT)
    files = font_files(tmp_path)
    sheet = files.pop("/fonts.css").decode().splitlines()
    assert set(files) == {
        "/fonts/inter.woff2", "/fonts/lato.woff2", "/fonts/lato-bold.woff2",
        "/fonts/lato-bold-italic.woff2",
    }  # fmt: skip
    faces = [line for line in sheet if '"lato"' in line]
    assert ["weight: 400" in faces[0], "weight: 700" in faces[1]] == [True, True]
    assert "font-style: italic" in faces[2]
    [inter] = [line for line in sheet if '"inter"' in line]
    assert "font-weight: 100 900" in inter
    assert 'url("fonts/inter.woff2")' in inter


def test_invalid_fonts_and_unknown_names_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "geist.woff2").write_bytes(b"<script>")
    (tmp_path / "roboto.woff2").write_bytes(FONT + b"\0" * MAX_FONT_BYTES)
    (tmp_path / "comic-sans.woff2").write_bytes(FONT)
    (tmp_path / "inter.woff2").mkdir()
    assert font_files(tmp_path) == {"/fonts.css": b""}
