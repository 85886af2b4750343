"""The layout of all `/lite` pages: head, navigation, error message, and footer."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import urlencode

from model.preferences.schema import Preferences
from server.lite.html import Node, make, to_html
from server.lite.page_request import Form, PageRequest, button, hidden, link, nav

LIMIT: Final = 10_000
"""Maximum bytes of a page's HTML, without what the user typed. With its style sheets a page stays
under 15 KB, compressed."""


def render_page(page_request: PageRequest, title: str, *content: Node, refresh: str = "") -> str:
    """A complete page; `refresh` is the content of a `Refresh` meta element."""
    waiting = sum(
        session.status == "waiting" and session.archived_at is None
        for session in page_request.state.sessions.values()
    )
    links = make(
        "nav",
        link(f"{waiting} need you" if waiting else "Sessions", "/lite"),
        " ",
        link("Worktrees", "/lite/worktrees"),
        aria_label="Spinney",
    )
    sign_out = (
        page_request.make_form("/lite/sign-out", button("Sign out"))
        if page_request.can_sign_out
        else None
    )
    return _document(
        page_request.version,
        f"({waiting}) {title}" if waiting else title,
        _theme_of(page_request),
        make("header", links),
        make("main", _problem(page_request.problem), make("h1", title), content),
        make(
            "footer",
            link("Usage", "/lite/usage"),
            " ",
            link("The page with JavaScript", "/"),
            " ",
            sign_out,
        ),
        refresh=refresh,
    )


def render_failure(page_request: PageRequest, message: str) -> str:
    """A page with an error message and what the user typed."""
    back = nav(link("Back", page_request.path if page_request.typed.fields else "/lite"))
    failed = replace(page_request, problem=message)
    return render_page(failed, "Something went wrong", back, _typed_texts(page_request.typed))


def render_standalone(version: str, preferences: Preferences, title: str, *content: Node) -> str:
    """A page that needs no sign-in, without links to others."""
    main = make("main", make("h1", title), content)
    return _document(version, title, _theme_names(preferences), main)


def render_sign_in(
    version: str, message: str, return_path: str, typed: Form, *, tried: bool
) -> str:
    """The sign-in form. Reveals nothing about this Spinney's content."""
    token = make(
        "input",
        type="password",
        name="token",
        id="token",
        autocomplete="current-password",
        required=True,
    )
    remember = make("input", type="checkbox", name="remember", value="1")
    form = make(
        "form",
        hidden("to", return_path),
        make("label", "Token", for_="token"),
        token,
        make("label", remember, " Remember me on this device"),
        make("p", button("Sign in", class_="primary")),
        method="post",
        action="/lite/sign-in",
    )
    content = [
        _problem(message) if tried else None,
        make("h1", "Sign in to Spinney"),
        make("p", "Enter the token of this Spinney. The terminal shows it under Server."),
        form,
        # Browsers send no cookie with a link on another site, but with one on this page.
        nav(link("I am already signed in", return_path)),
        _typed_texts(typed),
    ]
    return _document(version, "Sign in to Spinney", {}, make("main", content))


def _problem(message: str) -> Node:
    """The error message, at the top of the page."""
    return make("p", message, class_="bad", role="alert") if message else None


def _typed_texts(typed: Form) -> list[Node]:
    """What the user typed into a form that is not on this page, so that it is not lost."""
    names = (
        "message",
        "plan",
        "reason",
        *(name for name in typed.fields if name.startswith("own")),
    )
    texts = [text for name in names if (text := typed.get(name)).strip()]
    return [
        make("label", "Your text", make("textarea", text, readonly=True, rows=6)) for text in texts
    ]


def _theme_of(page_request: PageRequest) -> dict[str, str]:
    return _theme_names(page_request.state.preferences)


def _theme_names(preferences: Preferences) -> dict[str, str]:
    return {
        "theme": preferences.theme,
        "dark": preferences.syntax_theme_dark,
        "light": preferences.syntax_theme_light,
    }


def _document(
    version: str, title: str, theme_names: Mapping[str, str], *body: Node, refresh: str = ""
) -> str:
    theme = theme_names.get("theme")
    query = urlencode({key: theme_names[key] for key in ("dark", "light") if key in theme_names})
    head = make(
        "head",
        make("meta", charset="utf-8"),
        make("meta", name="viewport", content="width=device-width, initial-scale=1"),
        make("meta", http_equiv="refresh", content=refresh) if refresh else None,
        make("title", f"{title} · Spinney"),
        make("link", rel="icon", href=f"/v/{version}/icon.svg", type="image/svg+xml"),
        make("link", rel="stylesheet", href=f"/theme.css?plain=1&{query}&v={version}"),
        make("link", rel="stylesheet", href=f"/v/{version}/css/lite.css"),
    )
    data_theme = theme if theme in ("light", "dark") else None
    html = make("html", head, make("body", body), lang="en", data_theme=data_theme)
    return f"<!doctype html>\n{to_html(html)}\n"
