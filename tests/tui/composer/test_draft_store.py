"""The draft store: chips, drafts on disk, sent messages."""

import json
import os
import stat
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from tui.composer.draft import Draft
from tui.composer.draft_store import MAX_DRAFT_AGE, MAX_DRAFTS, MAX_SENT, DraftStore


def load_store(folder: Path) -> DraftStore:
    drafts = DraftStore(folder)
    drafts.load()
    return drafts


def make_pasted_draft(text: str) -> Draft:
    draft = Draft()
    draft.text = draft.add_paste(text)
    return draft


def test_a_draft_is_kept_over_a_restart_with_the_contents_of_its_chips(
    tmp_path: Path,
) -> None:
    drafts = DraftStore(tmp_path)
    written = make_pasted_draft("x\n" * 1234)
    written.text += f" and {written.add_image('/tmp/map.png')}"
    drafts.set("s1", written)
    drafts.set("s2", Draft("other"))
    drafts.flush()
    again = load_store(tmp_path)
    assert again.get("s1") == written
    assert again.get("s1").text == "[pasted 1,234 lines] and [image map.png]"
    assert again.get("s2") == Draft("other")


def test_an_emptied_draft_leaves_no_file(tmp_path: Path) -> None:
    drafts = DraftStore(tmp_path)
    drafts.set("s1", Draft("secret"))
    drafts.flush()
    drafts.set("s1", Draft())
    drafts.flush()
    assert list((tmp_path / "drafts").iterdir()) == []


def test_only_the_owner_can_read_the_files(tmp_path: Path) -> None:
    drafts = DraftStore(tmp_path / "terminal")
    drafts.set("s1", Draft("secret"))
    drafts.add_sent("p1", "secret, too")
    drafts.flush()
    for path in (tmp_path / "terminal").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600)


def test_an_id_that_is_a_path_does_not_leave_the_folder(tmp_path: Path) -> None:
    drafts = DraftStore(tmp_path / "terminal")
    drafts.set("../../escaped", Draft("here"))
    drafts.flush()
    assert [path.name for path in tmp_path.iterdir()] == ["terminal"]
    assert load_store(tmp_path / "terminal").get("../../escaped") == Draft("here")


def test_a_message_being_sent_is_a_draft_again_after_a_crash(tmp_path: Path) -> None:
    drafts = DraftStore(tmp_path)
    drafts.start_sending("s1", Draft("sent"))
    drafts.set("s1", Draft("next"))
    drafts.flush()
    assert load_store(tmp_path).get("s1") == Draft("sent\n\nnext")
    drafts.finish_sending("s1", Draft("sent"))
    drafts.flush()
    assert load_store(tmp_path).get("s1") == Draft("next")


def test_the_newest_sent_messages_are_kept_by_project(tmp_path: Path) -> None:
    drafts = DraftStore(tmp_path)
    for number in range(3 * MAX_SENT):
        drafts.add_sent("p1", f"message\n{number}")
        drafts.add_sent("p1", f"message\n{number}")
    drafts.add_sent("p2", "elsewhere")
    drafts.flush()
    again = load_store(tmp_path)
    assert again.sent_messages("p1") == [f"message\n{n}" for n in range(2 * MAX_SENT, 3 * MAX_SENT)]
    assert again.sent_messages("p2") == ["elsewhere"]
    assert len((tmp_path / "sent" / "p1.jsonl").read_bytes().splitlines()) <= MAX_SENT


def test_truncated_files_do_not_affect_others(tmp_path: Path) -> None:
    drafts = DraftStore(tmp_path)
    drafts.set("s1", Draft("whole"))
    drafts.add_sent("p1", "whole")
    drafts.flush()
    (tmp_path / "drafts" / "s2.json").write_text('{"key": "s2", "te')
    (tmp_path / "drafts" / "s3.json").write_text("[]")
    with (tmp_path / "sent" / "p1.jsonl").open("a") as file:
        file.write('{"project": "p1", "te')
    again = load_store(tmp_path)
    assert (again.get("s1"), again.get("s2")) == (Draft("whole"), Draft())
    assert again.sent_messages("p1") == ["whole"]


def test_a_draft_that_is_removed_while_loading_does_not_affect_others(
    tmp_path: Path,
) -> None:
    drafts = DraftStore(tmp_path)
    drafts.set("s1", Draft("mine"))
    drafts.flush()
    # Listed, but missing when it is opened.
    (tmp_path / "drafts" / "s2.json").symlink_to(tmp_path / "gone")
    assert load_store(tmp_path).get("s1") == Draft("mine")


def test_old_drafts_and_those_beyond_the_limit_are_dropped(tmp_path: Path) -> None:
    folder = tmp_path / "drafts"
    folder.mkdir()
    for number in range(MAX_DRAFTS + 5):
        path = folder / f"s{number}.json"
        kept = {"key": f"s{number}", "text": "x", "pastes": {}, "images": {}}
        path.write_text(json.dumps(kept))
        os.utime(path, (2e9 + number, 2e9 + number))
    os.utime(folder / "s204.json", (1e9, 1e9))
    assert MAX_DRAFT_AGE < 1e9
    again = load_store(tmp_path)
    assert (again.get("s203"), again.get("s204"), again.get("s0")) == (Draft("x"), Draft(), Draft())
    assert len(list(folder.iterdir())) == MAX_DRAFTS


def test_an_unusable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "terminal").write_text("a file")
    drafts = DraftStore(tmp_path / "terminal")
    drafts.set("s1", Draft("x"))
    with pytest.raises(SpinneyError, match="should be a folder but is a file"):
        drafts.flush()


def test_text_in_a_chip_is_never_expanded_as_another_chip() -> None:
    draft = Draft()
    first = draft.add_paste("a\n" * 30)
    second = draft.add_paste(f"{first}\n" * 31)
    draft.text = f"{second}{first}"
    assert draft.text_to_send() == f"{first}\n" * 31 + "a\n" * 30


def test_equal_chips_of_two_drafts_keep_their_own_texts_when_they_are_joined() -> None:
    joined = make_pasted_draft("a\n" * 30).join(make_pasted_draft("b\n" * 30))
    assert joined.text == "[pasted 30 lines]\n\n[pasted 30 lines, 2]"
    assert joined.text_to_send() == "a\n" * 30 + "\n\n" + "b\n" * 30


def test_an_image_alone_is_sent_without_text() -> None:
    draft = Draft.from_text("", ["/tmp/a.png", "/tmp/b.png"])
    assert (draft.text_to_send(), draft.image_paths()) == ("", ("/tmp/a.png", "/tmp/b.png"))
    draft.text = f"compare {draft.text}"
    assert draft.text_to_send() == "compare [image a.png] [image b.png]"
