"""Maps the token types of Pygments to the token classes of our themes, by name.

A type without an entry has the class of its parent type. Entries for a single language, which uses
a type differently, take precedence.
"""

from typing import Final

from themes.tokens import TokenClass

CLASSES: Final[dict[str, TokenClass | None]] = {
    "Comment": "comment",
    "Comment.Preproc": "decorator",
    "Comment.PreprocFile": "string",
    "Comment.Special": "comment_doc",
    "Keyword": "keyword",
    "Keyword.Constant": "constant",
    "Keyword.Declaration": "storage",
    "Keyword.Namespace": "keyword_import",
    "Keyword.Pseudo": "variable_special",
    "Keyword.Type": "type_builtin",
    "Name.Attribute": "attribute",
    "Name.Builtin": "builtin",
    "Name.Builtin.Pseudo": "variable_special",
    "Name.Class": "class",
    "Name.Constant": "constant_named",
    "Name.Decorator": "decorator",
    "Name.Entity": "escape",
    "Name.Exception": "class",
    "Name.Function": "function",
    "Name.Label": "constant_named",
    "Name.Namespace": "namespace",
    "Name.Other": "variable",
    "Name.Property": "property",
    "Name.Tag": "tag",
    "Name.Variable": "variable",
    "Name.Variable.Instance": "property",
    "Name.Variable.Magic": "variable_special",
    "Literal": "constant",
    "Literal.Date": "number",
    "Literal.Number": "number",
    "Literal.String": "string",
    "Literal.String.Affix": "storage",
    "Literal.String.Doc": "string_doc",
    "Literal.String.Escape": "escape",
    "Literal.String.Interpol": "interpolation",
    "Literal.String.Regex": "regexp",
    "Literal.String.Symbol": "constant",
    "Operator": "operator",
    "Operator.Word": "keyword_operator",
    "Punctuation": "punctuation",
    "Generic.Deleted": "deleted",
    "Generic.Emph": "emphasis",
    "Generic.Error": "invalid",
    "Generic.Heading": "heading",
    "Generic.Inserted": "inserted",
    "Generic.Prompt": "comment",
    "Generic.Strong": "strong",
    "Generic.Subheading": "heading",
}

_KEYS: Final[dict[str, TokenClass | None]] = {"Name.Tag": "key", "Name.Attribute": "key"}
_STYLESHEETS: Final[dict[str, TokenClass | None]] = {
    "Keyword": "css_property",
    "Name.Tag": "css_selector",
    "Name.Class": "css_selector",
    "Name.Namespace": "css_selector",
}
_MARKUP: Final[dict[str, TokenClass | None]] = {"Punctuation": "tag_punctuation"}

LANGUAGE_CLASSES: Final[dict[str, dict[str, TokenClass | None]]] = {
    "json": _KEYS,
    "yaml": _KEYS,
    "toml": {"Name": "key", "Keyword": "heading"},
    "ini": {"Name.Attribute": "key", "Keyword": "heading"},
    "css": _STYLESHEETS,
    "scss": _STYLESHEETS,
    "less": _STYLESHEETS,
    "html": _MARKUP,
    "xml": _MARKUP,
    "diff": {
        "Generic.Heading": "diff_header",
        "Generic.Subheading": "diff_range",
        "Generic.Strong": "changed",
    },
    "markdown": {"Keyword": "list_marker", "Literal.String": "code_inline", "Name.Tag": "link"},
}
"""By the first alias of the Pygments lexer."""

STORAGE_WORDS: Final = frozenset(
    [
        "class",
        "const",
        "def",
        "enum",
        "fn",
        "func",
        "function",
        "impl",
        "interface",
        "let",
        "struct",
        "trait",
        "type",
        "var",
    ]
)
"""Keywords that the themes color as storage, whatever type the lexer gives them."""
