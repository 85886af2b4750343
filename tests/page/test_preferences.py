"""Every preference in the browser: searched, edited in its row, synchronized, validated."""

import json
import re
from typing import Any

from playwright.async_api import Locator, Page, expect

from model.preferences.fields import shown_fields
from tests.contract.conftest import receive_payload
from tests.page.browser import Screen
from tests.page.conftest import OpenPage
from tests.server.conftest import Socket
from themes import loader


def row(page: Page, key: str) -> Locator:
    return page.locator(f'[data-key="{key}"]')


async def read_preferences(client: Socket) -> Any:
    return await client.call("get_preferences")


async def open_preferences(open_page: OpenPage, query: str = "") -> Page:
    """The preferences that match a query, or all sections."""
    page = await open_page(f"/preferences{query}")
    await expect(page.locator(".preference").first).to_be_attached()
    return page


async def test_all_preferences_are_listed_in_their_groups_with_their_help(
    open_page: OpenPage,
) -> None:
    page = await open_preferences(open_page)
    fields = shown_fields()
    keys = await page.locator(".preference").evaluate_all("all => all.map(e => e.dataset.key)")
    assert keys == list(fields)
    groups = await page.locator(".preferences h2").all_text_contents()
    assert groups == list(dict.fromkeys(field.group for field in fields.values()))
    for field in fields.values():
        await expect(row(page, field.key)).to_contain_text(field.help.replace("`", ""))
        assert (
            await row(page, field.key)
            .locator(".choices :is(input, select, textarea, summary, form, button)")
            .count()
        )


async def test_preferences_are_found_by_key_group_help_and_value(open_page: OpenPage) -> None:
    page = await open_preferences(open_page, "?q=waiting sound")
    visible = page.locator(".preference:visible")
    await expect(visible).to_have_count(1)
    find = page.get_by_label("Search preferences")
    await find.fill("haiku branch")
    await expect(visible).to_have_attribute("data-key", "branch_naming_model")
    assert "q=haiku" in page.url
    await find.fill("nothing has this")
    await expect(page.get_by_text("No matching preferences.")).to_be_visible()
    await find.press("Escape")
    shown = [field for field in shown_fields().values() if field.group == "Appearance"]
    await expect(visible).to_have_count(len(shown))


async def test_each_kind_is_edited_in_its_row_and_updates_every_page(
    open_page: OpenPage, client: Socket
) -> None:
    page = await open_preferences(open_page, "?q=e")
    second = await open_preferences(open_page, "?q=e")
    await row(page, "auto_branch_naming").get_by_role("checkbox").uncheck()
    await row(page, "editor").get_by_role("combobox").select_option("vscode")
    await row(page, "agent_limit").get_by_role("spinbutton").fill("7")
    await row(page, "agent_limit").get_by_role("spinbutton").press("Enter")
    await row(page, "ai_language").get_by_role("textbox").fill("Français")
    await row(page, "ai_language").get_by_role("textbox").press("Enter")
    await row(page, "build_model").get_by_role("textbox").fill("model_3")
    await row(page, "build_model").get_by_role("textbox").press("Tab")
    await row(page, "default_enabled_mcp_servers").get_by_role("textbox").fill(" one\n\ntwo ")
    await row(page, "default_enabled_mcp_servers").get_by_role("textbox").blur()
    await expect(row(second, "auto_branch_naming").get_by_role("checkbox")).not_to_be_checked()
    await expect(row(second, "editor").get_by_role("combobox")).to_have_value("vscode")
    await expect(row(second, "agent_limit").get_by_role("spinbutton")).to_have_value("7")
    await expect(row(second, "ai_language").get_by_role("textbox")).to_have_value("Français")
    await expect(row(second, "build_model").get_by_role("textbox")).to_have_value("model_3")
    servers = row(second, "default_enabled_mcp_servers").get_by_role("textbox")
    await expect(servers).to_have_value("one\ntwo")
    now = await read_preferences(client)
    assert now["default_enabled_mcp_servers"] == ["one", "two"]
    reset = row(second, "editor").get_by_role("button", name="to the default")
    await reset.click()
    await expect(row(page, "editor").get_by_role("combobox")).to_have_value("zed")
    await expect(reset).to_be_hidden()


async def test_a_rejected_value_shows_an_error_in_its_row_and_can_be_corrected(
    open_page: OpenPage, client: Socket
) -> None:
    page = await open_preferences(open_page)
    size = row(page, "ui_font_size")
    await size.get_by_role("spinbutton").fill("99")
    await size.get_by_role("spinbutton").press("Enter")
    await expect(size.get_by_role("alert")).to_have_text(
        "Invalid preference 'ui_font_size': must be a number from 12 to 24"
    )
    await expect(size.get_by_role("spinbutton")).to_have_value("99")
    await client.call("update_preferences", changes={"theme": "light"})
    await expect(row(page, "theme").get_by_role("radio", name="Light")).to_be_checked()
    await expect(size.get_by_role("spinbutton")).to_have_value("99")  # typed text is kept
    await size.get_by_role("spinbutton").fill("18")
    await size.get_by_role("spinbutton").press("Enter")
    await expect(size.get_by_role("alert")).to_be_empty()
    await expect(size.locator(".changed")).to_be_visible()
    assert (await read_preferences(client))["ui_font_size"] == 18


async def test_prompts_and_their_models_can_be_customized(
    open_page: OpenPage, client: Socket
) -> None:
    page = await open_preferences(open_page, "?q=magic_prompt")
    texts, models = row(page, "magic_prompts"), row(page, "magic_prompt_models")
    await texts.locator("summary").click()
    box = texts.get_by_role("textbox", name="Commit message", exact=True)
    await box.fill("In one line.\nNo more.")
    await box.blur()
    await expect(texts.locator("summary")).to_have_text("1 customized")
    body = texts.get_by_role("textbox", name="PR content", exact=True)
    await body.fill("About {apples}.")
    await body.blur()
    entry = texts.locator(".prompt-entry").filter(has_text="PR content")
    await expect(entry.get_by_role("alert")).to_contain_text("{apples}")
    await entry.get_by_role("button", name="Edit the built-in text of PR content").click()
    await expect(body).to_have_value(re.compile("."))
    await expect(entry.locator(".variables")).to_contain_text("{")
    await body.press("Escape")
    await models.locator("summary").click()
    choice = models.get_by_role("combobox", name="PR content")
    await choice.select_option("model_3")
    await expect(models.locator("summary")).to_have_text("1 customized")
    now = await read_preferences(client)
    assert now["magic_prompts"]["commit_message"] == "In one line.\nNo more."
    assert now["magic_prompts"]["pr_content"] is None
    await expect(texts.get_by_role("textbox")).to_have_count(16)
    assert now["magic_prompt_models"]["pr_content_model"] == "model_3"
    await texts.get_by_role("button", name="Reset Commit message to the default").click()
    await expect(texts.locator("summary")).to_have_text("All built-in")


async def test_key_bindings_are_added_changed_and_reset(
    open_page: OpenPage, client: Socket
) -> None:
    page = await open_preferences(open_page, "?q=keybindings")
    keys = row(page, "keybindings")
    await keys.get_by_role("combobox", name="Action").select_option("Search all messages")
    await keys.get_by_role("textbox", name="Keys", exact=True).press_sequentially("ctrl+y")
    await keys.get_by_role("button", name="Add").click()
    box = keys.get_by_role("textbox", name="Keys of Search all messages")
    await expect(box).to_have_value("ctrl+y")
    await box.press("Control+a")
    await page.keyboard.type("ctrl+j")
    await box.press("Enter")
    while (await receive_payload(client, "preferences:updated"))["changes"] != {
        "keybindings": {"search": "ctrl+j"}
    }:
        pass
    await expect(box).to_be_focused()
    await page.get_by_role("link", name="Help", exact=True).click()
    await expect(page.locator("dt", has_text="ctrl+j")).to_have_text("ctrl+j")
    await page.keyboard.press("Control+j")
    await expect(page.locator("#title")).to_have_text("Search")
    await page.go_back()
    await page.go_back()
    await keys.get_by_role("button", name="Reset Search all messages").click()
    await expect(box).to_have_count(0)
    assert (await read_preferences(client))["keybindings"] == {}


async def test_key_bindings_are_in_rows_below_their_help_on_every_screen(
    open_page: OpenPage, client: Socket
) -> None:
    await client.call("update_preferences", changes={"keybindings": {"search": "ctrl+j"}})
    page = await open_preferences(open_page, "?q=keybindings")
    keys = row(page, "keybindings")
    parts = [keys.locator(".hint").first, keys.locator(".key-row .grow"), keys.locator(".name")]
    lefts = [(await part.bounding_box() or {}).get("x") for part in parts]
    assert len(set(lefts)) == 1, "one column"
    await page.set_viewport_size({"width": 390, "height": 844})
    ends = [keys.get_by_role("textbox", name="Keys of"), keys.get_by_label("Reset Search all")]
    boxes = [await end.bounding_box() for end in ends]
    assert boxes[0] and boxes[1]
    assert boxes[1]["x"] > boxes[0]["x"], "beside its keys"
    assert abs(boxes[1]["y"] - boxes[0]["y"]) < 10
    await client.call("update_preferences", changes={"keybindings": {}})


async def test_sections_are_chosen_at_the_side_or_on_a_phone_in_a_list(
    open_page: OpenPage, screen: Screen
) -> None:
    page = await open_page("/preferences/Server", screen=screen)
    await expect(row(page, "http_server_port")).to_be_visible()
    await expect(row(page, "theme")).to_be_hidden()
    choice = page.get_by_role("combobox", name="Section")
    if await choice.is_visible():
        await choice.select_option("Appearance")
    else:
        sections = page.get_by_role("navigation", name="Sections")
        await sections.get_by_role("link", name="Appearance").click()
    await expect(row(page, "theme")).to_be_visible()
    await expect(row(page, "http_server_port")).to_be_hidden()
    await page.reload()
    await expect(row(page, "theme")).to_be_visible()


async def test_themes_are_chosen_by_swatches_and_code_themes_have_a_sample(
    open_page: OpenPage, client: Socket
) -> None:
    page = await open_preferences(open_page)
    await row(page, "theme").get_by_text("Light", exact=True).click()
    await expect(page.locator("html")).to_have_attribute("data-theme", "light")
    # The sample of the dark theme has its own colors on a light page, too.
    dark = row(page, "syntax_theme_dark")
    await dark.get_by_role("combobox").select_option("Dracula")
    background = loader.load_syntax_theme("dracula").ui["background"].lstrip("#")
    rgb = ", ".join(str(int(background[at : at + 2], 16)) for at in (0, 2, 4))
    await expect(dark.locator(".code-sample")).to_have_css("background-color", f"rgb({rgb})")
    assert (await read_preferences(client))["syntax_theme_dark"] == "dracula"


async def test_only_fonts_that_are_there_are_offered(open_page: OpenPage) -> None:
    font = row(await open_preferences(open_page), "ui_font")
    options = await font.get_by_role("option").evaluate_all("all => all.map(each => each.value)")
    assert "system" in options
    assert "geist" in options, "the chosen one is always listed"
    await expect(font).to_contain_text("This font is not on this device")


async def test_a_profile_is_added_edited_chosen_and_removed_with_its_settings_hidden(
    open_page: OpenPage, client: Socket
) -> None:
    page = await open_preferences(open_page, "?q=profile")
    profiles = row(page, "custom_cli_profiles")
    await profiles.get_by_role("button", name="Add a profile").click()
    await profiles.get_by_label("Name").fill("Work")
    settings = profiles.get_by_label("Settings (JSON")
    await settings.fill("no JSON")
    await profiles.get_by_role("button", name="Save").click()
    await expect(profiles).to_contain_text("must be the text of a JSON object")
    await settings.fill(json.dumps({"env": {"KEY": "hunter2"}}))
    await profiles.get_by_role("button", name="Save").click()
    await expect(profiles.locator("summary")).to_have_text("Work")
    assert "hunter2" not in await page.content()
    provider = row(page, "default_provider").get_by_role("combobox")
    await provider.select_option("Work")
    await expect(row(page, "default_provider").locator(".changed")).to_be_visible()
    await profiles.locator("summary").click()
    await profiles.get_by_label("Settings file").fill("/etc/work.json")
    await profiles.get_by_role("button", name="Save").click()
    await expect(profiles.locator("details[open]")).to_have_count(0)
    [profile] = (await read_preferences(client))["custom_cli_profiles"]
    assert (profile["name"], profile["file_path"]) == ("Work", "/etc/work.json")
    await profiles.locator("summary").click()
    await profiles.get_by_role("button", name="Remove").click()
    await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    await expect(profiles.locator("summary")).to_have_count(0)
    assert (await read_preferences(client))["custom_cli_profiles"] == []


async def test_a_new_token_keeps_this_page_signed_in_and_is_never_shown(
    open_page: OpenPage,
) -> None:
    page = await open_preferences(open_page, "?q=http_server_token")
    box = row(page, "http_server_token").locator("input")
    await expect(box).to_have_attribute("type", "password")
    await expect(box).to_have_attribute("placeholder", "Hidden. Enter a new one to replace it")
    await box.fill("a-token-of-my-own-12345")
    await box.press("Enter")
    async with page.expect_websocket():  # the one with the old token is closed
        await page.get_by_role("dialog").get_by_role("button", name="Change").click()
    await expect(page.locator("#link")).to_have_attribute("data-state", "open")
    await expect(box).to_have_value("")
    assert "a-token-of-my-own" not in await page.content()
    await page.reload()
    await expect(page.locator("#link")).to_have_attribute("data-state", "open")
    assert (
        await page.evaluate("sessionStorage.getItem('spinney-token')") == "a-token-of-my-own-12345"
    )
