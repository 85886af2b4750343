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
