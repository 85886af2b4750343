"""What stands around every page of `/lite`: head, way back, what went wrong, and the way out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import urlencode

from server.lite.html import Node, make, write
from server.lite.page_request import Form, Visit, button, hidden, link, way

LIMIT: Final = 10_000
"""Bytes of HTML of a page, but for what somebody typed. With its style sheets, packed as browsers
take them, a page stays under 15 KB."""


def page(visit: Visit, title: str, *content: Node, renewed: str = "") -> str:
    """A whole page; `renewed` is what a browser is to do by itself, and when."""
    waiting = sum(
        session.status == "waiting" and session.archived_at is None
        for session in visit.state.sessions.values()
    )
    bar = make(
        "nav",
        link(f"{waiting} need you" if waiting else "Sessions", "/lite"),
        " ",
        link("Worktrees", "/lite/worktrees"),
        aria_label="Spinney",
    )
    leave = visit.form("/lite/sign-out", button("Sign out")) if visit.can_leave else None
    return _document(
        visit.version,
        f"({waiting}) {title}" if waiting else title,
        _looks(visit),
        make("header", bar),
        make("main", _problem(visit.problem), make("h1", title), content),
        make("footer", link("The page with JavaScript", "/"), " ", leave),
        renewed=renewed,
    )


def failure_page(visit: Visit, words: str) -> str:
    """A page that says what went wrong, and gives back what was written."""
    way_back = way(link("Back", visit.path if visit.typed.fields else "/lite"))
    told = replace(visit, problem=words)
    return page(told, "This did not work", way_back, _written(visit.typed))


def sign_in_page(version: str, words: str, to: str, typed: Form, *, tried: bool) -> str:
    """The form that takes the token. It says nothing of what is there to be seen."""
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
        hidden("to", to),
        make("label", "Token", for_="token"),
        token,
        make("label", remember, " Remember it in this browser"),
        make("p", button("Sign in", class_="primary")),
        method="post",
        action="/lite/sign-in",
    )
    content = [
        _problem(words) if tried else None,
        make("h1", "Sign in to Spinney"),
        make("p", "This Spinney asks for its token. The terminal shows it under Server."),
        form,
        # A link on another site brings no cookie along; one on this page does.
        way(link("I have signed in before", to)),
        _written(typed),
    ]
    return _document(version, "Sign in to Spinney", {}, make("main", content))


def _problem(words: str) -> Node:
    """What went wrong, where one looks first."""
    return make("p", words, class_="bad", role="alert") if words else None


def _written(typed: Form) -> list[Node]:
    """What somebody wrote into a form that is not on this page, so that it is not lost."""
    names = (
        "message",
        "plan",
        "reason",
        *(name for name in typed.fields if name.startswith("own")),
    )
    texts = [text for name in names if (text := typed.get(name)).strip()]
    return [
        make("label", "What you wrote", make("textarea", text, readonly=True, rows=6))
        for text in texts
    ]


def _looks(visit: Visit) -> dict[str, str]:
    said = visit.state.preferences
    return {
        "theme": said.theme,
        "dark": said.syntax_theme_dark,
        "light": said.syntax_theme_light,
    }


def _document(
    version: str, title: str, looks: Mapping[str, str], *body: Node, renewed: str = ""
) -> str:
    theme = looks.get("theme")
    colours = urlencode({key: looks[key] for key in ("dark", "light") if key in looks})
    head = make(
        "head",
        make("meta", charset="utf-8"),
        make("meta", name="viewport", content="width=device-width, initial-scale=1"),
        make("meta", http_equiv="refresh", content=renewed) if renewed else None,
        make("title", f"{title} · Spinney"),
        make("link", rel="icon", href=f"/v/{version}/icon.svg", type="image/svg+xml"),
        make("link", rel="stylesheet", href=f"/theme.css?plain=1&{colours}&v={version}"),
        make("link", rel="stylesheet", href=f"/v/{version}/css/lite.css"),
    )
    data_theme = theme if theme in ("light", "dark") else None
    whole = make("html", head, make("body", body), lang="en", data_theme=data_theme)
    return f"<!doctype html>\n{write(whole)}\n"
