"""Which rows of a diff belong to which side of a conflict."""

from model.richtext.conflict_parts import ConflictPart, find_conflict_parts
from model.richtext.diff_text import parse_diff

DIFF = """\
diff --git a/a b/a
--- a/a
+++ b/a
@@ -1,4 +1,11 @@
 <<<<<<< is only a text? no: it begins a conflict
+ours
+||||||| base
+was
+=======
+theirs
+>>>>>>> other
 =======
-<<<<<<< removed
+<<<<<<<< eight
 end
"""


def test_rows_between_markers_belong_to_a_side_and_theirs_is_named_by_the_end() -> None:
    rows = parse_diff(DIFF).rows
    parts = find_conflict_parts(rows)
    found = {rows[at].text: part for at, part in parts.items()}
    assert found["ours"] == ConflictPart("ours")
    assert found["was"] == ConflictPart("base")
    assert found["theirs"] == ConflictPart("theirs")
    assert found[">>>>>>> other"] == ConflictPart("end", "other")
    assert ConflictPart("theirs", "other") in parts.values()
    assert not {"<<<<<<< removed", "<<<<<<<< eight", "end"} & found.keys()


def test_the_sides_are_called_by_what_they_are() -> None:
    commit = "0188356d2f65931f7ed453fab742b79b6e63f453"
    marked = DIFF.replace("<<<<<<< is only a text? no: it begins a conflict", "<<<<<<< HEAD")
    rows = parse_diff(marked.replace(">>>>>>> other", f">>>>>>> {commit}")).rows
    ours = {
        operation: find_conflict_parts(rows, operation)[1].label
        for operation in ("merge", "rebase", None)
    }
    assert ours == {"merge": "this branch", "rebase": "the branch it goes onto", None: "HEAD"}
    assert ConflictPart("theirs", "0188356d2f") in find_conflict_parts(rows, "merge").values()
