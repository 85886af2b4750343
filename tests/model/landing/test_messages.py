"""The message with which a branch lands keeps what its commits say."""

from model.git.history import CommitText
from model.landing.messages import suggest_message

ADA = "Ada <ada@example.org>"
BOB = "Bob <bob@example.org>"


def squash(*commits: CommitText) -> str:
    return suggest_message("topic", "", "squash", commits, "ada@example.org")


def test_a_squash_keeps_bodies_trailers_and_authors_each_once() -> None:
    first = CommitText(
        "Parse rows", "The last one was lost.\n\nSigned-off-by: Ada\nChange-Id: I1", ADA
    )
    second = CommitText(
        "Test it", "Fixes: #12\nsigned-off-by: ada\nChange-Id: I2\nCo-authored-by: Eve <e@x>", BOB
    )
    assert squash(first, second) == (
        "Parse rows\n\n"
        "- Parse rows\n\n  The last one was lost.\n\n- Test it\n\n"
        "signed-off-by: ada\nChange-Id: I2\nFixes: #12\nCo-authored-by: Eve <e@x>\n"
        "Co-authored-by: Bob <bob@example.org>"
    )


def test_a_single_commit_stays_as_it_is_and_names_its_author() -> None:
    body = "Why: it was slow.\nMore of it.\n\nFixes: #1"
    assert squash(CommitText("One", body, ADA)) == f"One\n\n{body}"
    assert squash(CommitText("One", "", BOB)) == f"One\n\nCo-authored-by: {BOB}"


def test_what_only_looks_like_a_trailer_stays_in_the_body() -> None:
    message = squash(CommitText("One", "Note: this\nis text.", ADA), CommitText("Two", "", ADA))
    assert message == "One\n\n- One\n\n  Note: this\n  is text.\n\n- Two"


def test_trailers_are_never_cut_off() -> None:
    long = CommitText("Long", f"{'word ' * 10_000}\n\nFixes: #7", ADA)
    message = squash(long, CommitText("Two", "", BOB))
    assert len(message) <= 20_100
    assert message.endswith(f"Fixes: #7\nCo-authored-by: {BOB}")


def test_a_merge_lists_subjects() -> None:
    commits = [CommitText("One", "Body", BOB), CommitText("Two", "", BOB)]
    message = suggest_message("topic", "dev", "merge", commits, "")
    assert message == "Merge branch 'topic' into dev\n\n- One\n- Two"
