"""The changes view: each kind of change, columns, long lines, large files."""

from playwright.async_api import Page, expect

from tests.page.browser import PHONE
from tests.page.conftest import OpenPage
from tests.page.diff.work_tree import WorkTree, button, choose, file, open_diff, row, side
from tests.page.user_input import Pointer


async def test_every_kind_of_change_is_labeled(page: Page, tree: WorkTree) -> None:
    tree.write("gone.txt", "1\n")
    tree.write("old.py", "".join(f"a{n} = {n}\n" for n in range(20)))
    tree.write("run.sh", "echo\n")
    tree.write("picture", b"\0\1")
    tree.commit("README.md", "# Orchard\n")
    tree.write("picture", b"\0\2")
    tree.write("new one.py", "def hello():\n    return 1\n")
    (tree.root / "gone.txt").unlink()
    (tree.root / "run.sh").chmod(0o755)
    tree.git("mv", "old.py", "moved.py")
    await open_diff(page, tree)
    await expect(file(page, "new one.py")).to_contain_text("untracked")
    await expect(file(page, "new one.py")).to_contain_text("+2")
    await expect(file(page, "gone.txt")).to_contain_text("deleted")
    await expect(file(page, "gone.txt")).to_contain_text("−1")
    await expect(file(page, "run.sh")).to_contain_text("mode 100644 → 100755")
    await expect(file(page, "run.sh")).to_contain_text("The file is now executable.")
    await expect(file(page, "picture")).to_contain_text("binary")
    await expect(file(page, "picture")).to_contain_text("its content is not shown")
    await expect(page.locator(".tok-storage", has_text="def")).to_be_visible()
    await side(page, "Staged").click()
    await expect(file(page, "moved.py")).to_contain_text("renamed from old.py")
    await expect(file(page, "new one.py")).to_have_count(0)
    await side(page, "vs").click()
    await expect(file(page, "README.md")).to_contain_text("Counts apples.")
    await expect(button(page, "Stage README.md")).to_have_count(0)


async def test_old_and_new_lines_are_side_by_side_on_a_wide_screen(
    open_page: OpenPage, two_hunks: WorkTree
) -> None:
    wide, narrow = await open_page(), await open_page(screen=PHONE)
    for page in (wide, narrow):
        await open_diff(page, two_hunks)
    halves = row(wide, "line three").locator(".half")
    await expect(halves).to_have_text(["3-line 3", "3+line three"])
    await expect(row(wide, "line three").locator(".word")).to_have_text(["3", "three"])
    await expect(row(narrow, "line three")).to_have_text("3+line three")
    await choose(Pointer(wide), "One column")
    await expect(row(wide, "line three")).to_have_text("3+line three")
    await wide.reload()
    await expect(row(wide, "line three")).to_have_text("3+line three")
    await choose(Pointer(wide), "Two columns")
    await expect(halves).to_have_text(["3-line 3", "3+line three"])


async def test_a_long_line_scrolls_in_its_file_or_wraps(phone: Page, tree: WorkTree) -> None:
    tree.write("long.txt", "word " * 200 + "end\n")
    await open_diff(phone, tree)
    code = row(phone, "end").locator(".code")
    line = await code.evaluate("(element) => element.getBoundingClientRect().height")
    await expect(row(phone, "end")).to_be_visible()
    assert await phone.locator(".diff-rows").evaluate(
        "(grid) => grid.scrollWidth > grid.clientWidth"
    )
    await choose(Pointer(phone, touch=True), "Wrap lines")
    await expect(phone.locator(".diff-view")).to_have_class("diff-view wrap")
    assert await code.evaluate("(element) => element.getBoundingClientRect().height") > 3 * line
    assert await phone.locator(".diff-rows").evaluate(
        "(grid) => grid.scrollWidth === grid.clientWidth"
    )


async def test_the_lines_around_hunks_are_shown_on_request(
    open_page: OpenPage, two_hunks: WorkTree
) -> None:
    wide, narrow = await open_page(), await open_page(screen=PHONE)
    for page in (wide, narrow):
        await open_diff(page, two_hunks)
        shown = file(page, "list.txt").get_by_role("row")
        await expect(shown.filter(has_text="line 15")).to_have_count(0)
        await button(page, "Show 18 lines above line 25").click()
        await expect(shown.filter(has_text="line 15")).to_have_count(1)
        await expect(page.get_by_role("button", name="lines above line")).to_have_count(0)
        await expect(button(page, "Show what follows")).to_have_count(0)  # nothing does
    await expect(shown.filter(has_text="line 15")).to_have_text("1515 line 15")

    long = "".join(f"number {n}\n" for n in range(1, 101))
    two_hunks.commit("list.txt", long)
    two_hunks.write("list.txt", long.replace("number 50\n", "fifty\n"))
    await wide.reload()
    shown = file(wide, "list.txt").get_by_role("row")
    await button(wide, "Show 20 lines above line 47").click()
    await button(wide, "Show 26 lines above line 27").click()
    await expect(shown.filter(has_text="number 1").first).to_have_text("1 number 11 number 1")
    for last in ("number 73", "number 93", "number 100"):
        await button(wide, "Show what follows").click()
        await expect(shown.filter(has_text=last)).to_have_count(1)
    await expect(button(wide, "Show what follows")).to_have_count(0)


async def test_a_large_file_is_collapsed_and_loads_in_parts(page: Page, tree: WorkTree) -> None:
    tree.write("large.txt", "".join(f"number {n}\n" for n in range(2_400)))
    await open_diff(page, tree)
    fold = button(file(page, "large.txt"), "large.txt")
    await expect(fold).to_have_attribute("aria-expanded", "false")
    await fold.click()
    await expect(row(page, "number 998")).to_be_attached()
    await button(page, "Show 1,000 more of 1,401 rows").click()
    await button(page, "Show 401 more of 401 rows").click()
    await expect(page.locator(".diff-row[data-at]")).to_have_count(2_401)
    await expect(page.locator(".file-foot button")).to_have_count(0)
    await fold.click()
    await expect(page.locator(".file-body")).to_be_hidden()


async def test_a_requested_file_is_found_among_staged_changes(
    page: Page, two_hunks: WorkTree
) -> None:
    two_hunks.git("add", "list.txt")
    two_hunks.write("a.txt", "1\n")
    await open_diff(page, two_hunks, "?file=list.txt")
    await expect(side(page, "Staged")).to_have_attribute("aria-pressed", "true")
    await expect(button(file(page, "list.txt"), "list.txt")).to_be_focused()
