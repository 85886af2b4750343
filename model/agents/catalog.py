"""The only mapping from the wire's neutral names to real programs, models and labels.

A preset is a role, resolved to a model that the program reports (`model_lists`); the names below
are used only until then. Users can override them and add rows in `models.toml`; see
`load_overrides`.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

MAX_OVERRIDES_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model that users can select."""

    name: str
    """On the wire and in settings."""
    passed: str
    """The name passed to the agent program; empty for the program's default."""
    label: str
    description: str = ""
    efforts: tuple[str, ...] = ()
    """The effort levels that it supports, as far as its program reports them."""
    default_effort: str = ""
    answers_as: str = ""
    """The full name, if `passed` is a short one."""
    is_default: bool = False
    """Whether its program uses it by default."""
    is_offered: bool = True
    """Whether selection lists show it; a preset is hidden by the model that it resolves to."""


@dataclass(frozen=True, slots=True)
class BackendRow:
    """A kind of agent program and the models it offers."""

    name: str
    label: str
    program: str
    """The command to find; empty if the program ships with Spinney."""
    models: tuple[ModelRow, ...]


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """An editor or a terminal in which a worktree can be opened."""

    name: str
    label: str
    program: str
    """The command to find; empty for programs of the system or the shell itself."""
    application: str = ""
    """Its application name on macOS, for `open -a`."""


_CODEX_MODELS = (
    ("", "Default"),
    ("gpt-6-astra", "GPT-6-Astra"),
    ("gpt-6-sol", "GPT-6-Sol"),
    ("gpt-6.1-terra", "GPT-6.1 Terra"),
    ("gpt-6-luna", "GPT-6-Luna"),
)
"""Without a name the program uses the user's configured model, or its newest (0.169)."""

BACKENDS = (
    BackendRow(
        "backend_a",
        "Claude Code",
        "claude",
        (
            ModelRow("model_1", "opus", "Opus"),
            # The program has no short names for these; it accepts any full name at the start.
            ModelRow("model_2", "claude-opus-5", "Opus 5"),
            ModelRow("model_3", "sonnet", "Sonnet"),
            ModelRow("model_4", "claude-sonnet-5", "Sonnet 5"),
            ModelRow("model_5", "haiku", "Haiku"),
        ),
    ),
    BackendRow(
        "backend_b",
        "Codex",
        "codex",
        tuple(
            ModelRow(f"codex_model_{number}", passed, label)
            for number, (passed, label) in enumerate(_CODEX_MODELS, 1)
        ),
    ),
    BackendRow(
        "backend_c",
        "OpenCode",
        "opencode",
        tuple(
            ModelRow(f"backend_c/codex_model_{number}", passed and f"opencode/{passed}", label)
            for number, (passed, label) in enumerate(_CODEX_MODELS, 1)
        ),
    ),
)
DEMO = BackendRow("demo", "Demo agent", "", (ModelRow("demo", "demo", "Demo"),))

EDITORS = (
    ProgramRow("zed", "Zed", "zed", "Zed"),
    ProgramRow("vscode", "VS Code", "code", "Visual Studio Code"),
    ProgramRow("cursor", "Cursor", "cursor", "Cursor"),
    ProgramRow("xcode", "Xcode", "xed", "Xcode"),
)
TERMINALS = (
    ProgramRow("terminal", "Terminal", "", "Terminal"),
    ProgramRow("warp", "Warp", "warp-terminal", "Warp"),
    ProgramRow("ghostty", "Ghostty", "ghostty", "Ghostty"),
    ProgramRow("iterm2", "iTerm2", "", "iTerm"),
    ProgramRow("windows-terminal", "Windows Terminal", "wt"),
    ProgramRow("powershell", "PowerShell", "powershell"),
    ProgramRow("cmd", "Command Prompt", "cmd"),
)
SERVICES: Mapping[str, str] = MappingProxyType({"hosting": "GitHub", "tracker": "Linear"})


@dataclass(frozen=True, slots=True)
class Catalog:
    """The backends with their models: the built-in ones, or with the user's overrides."""

    backends: tuple[BackendRow, ...] = field(default=BACKENDS)

    def backend_rows(self, *, demo: bool = False) -> tuple[BackendRow, ...]:
        """The backends in display order; the demo agent only on request."""
        return (DEMO, *self.backends) if demo else self.backends

    def backend(self, name: str) -> BackendRow | None:
        """The backend with this wire name."""
        return next((row for row in (*self.backends, DEMO) if row.name == name), None)

    def model(self, backend: str, name: str) -> ModelRow | None:
        """The model with this wire name; `None` for a name known only to the program."""
        row = self.backend(backend)
        return next((model for model in row.models if model.name == name), None) if row else None

    def resolve_model(self, backend: str, model: str) -> str:
        """The name to pass to the backend's program: that of the preset, or `model` itself."""
        row = self.model(backend, model)
        return row.passed if row else model

    def label(self, name: str, model: str | None = None) -> str:
        """The display name of a backend, service, editor or terminal, or of a backend's `model`.

        A model may be given by its full name. Unknown names are returned unchanged.
        """
        if model is not None:
            row = self.model(name, model) or self._find_by_full_name(name, model)
            return row.label if row else model
        rows: tuple[BackendRow | ProgramRow, ...] = (*self.backends, DEMO, *EDITORS, *TERMINALS)
        return next((row.label for row in rows if row.name == name), SERVICES.get(name, name))

    def offered(self, backend: str, model: str) -> str:
        """The name under which selection lists show this model, which may be a preset."""
        row = self.model(backend, model)
        if row is None or row.is_offered:
            return model
        same = (each for each in self.models(backend) if each.passed == row.passed)
        return next((each.name for each in same), model)

    def models(self, backend: str) -> tuple[ModelRow, ...]:
        """The models that selection lists show."""
        row = self.backend(backend)
        return tuple(model for model in row.models if model.is_offered) if row else ()

    def with_models(self, backend: str, models: Iterable[ModelRow]) -> "Catalog":
        """Return a copy of the catalog in which this backend has these models."""
        rows = (
            replace(row, models=tuple(models)) if row.name == backend else row
            for row in self.backends
        )
        return Catalog(tuple(rows))

    def _find_by_full_name(self, backend: str, name: str) -> ModelRow | None:
        matches = (model for model in self.models(backend) if name and model.answers_as == name)
        return next((model for model in matches if model.name), None)


BUILT_IN = Catalog()
PRESETS: Mapping[str, frozenset[str]] = MappingProxyType(
    {row.name: frozenset(model.name for model in row.models) for row in BACKENDS}
)
"""The interface's neutral model names, by backend."""
SMALLEST: Mapping[str, str] = MappingProxyType({row.name: row.models[-1].name for row in BACKENDS})
"""The preset for small tasks, by backend."""


def load_overrides(path: Path) -> tuple[Catalog, list[str]]:
    """Load the catalog with the overrides in `models.toml`, and a message for each problem.

    A table per backend; in it `model = "passed"`, or `model = {passed = "…", label = "…"}`. If the
    file cannot be read, the built-in catalog is used; an invalid row is skipped.
    """
    tables, problems = read_tables(path, "The built-in models are used.")
    return (BUILT_IN, problems) if tables is None else _apply_overrides(tables, path)


def read_tables(path: Path, instead: str) -> tuple[Mapping[str, Any] | None, list[str]]:
    """Read a TOML file of the user; `None` if it does not exist or cannot be read.

    The message for the latter names the line and ends with `instead`, the consequence.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_OVERRIDES_BYTES + 1)
        if len(content) > MAX_OVERRIDES_BYTES:
            return None, [f"{path} is too large. {instead}"]
        return tomllib.loads(content.decode()), []
    except FileNotFoundError:
        return None, []
    except OSError as error:
        return None, [f"{path} could not be read: {error.strerror}. Check its permissions."]
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return None, [f"{path}, line {line}: not UTF-8 text. {instead}"]
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return None, [f"{path}: {error}. {instead}"]


def _apply_overrides(tables: Mapping[str, Any], path: Path) -> tuple[Catalog, list[str]]:
    problems: list[str] = []
    backends = {row.name: row for row in BACKENDS}
    for name, models in tables.items():
        if name not in backends:
            problems.append(f"{path}: [{name}] is not one of {', '.join(backends)}; it is ignored.")
        elif not isinstance(models, dict):
            problems.append(f"{path}: {name} must be a table, [{name}]; it is ignored.")
        else:
            rows = {row.name: row for row in backends[name].models}
            for model, value in models.items():
                row = model_row(model, value, rows.get(model))
                if row:
                    rows[model] = row
                else:
                    problems.append(
                        f"{path}: {model} in [{name}] must be the model's name as text; "
                        "it is ignored."
                    )
            backends[name] = replace(backends[name], models=tuple(rows.values()))
    return Catalog(tuple(backends.values())), problems


def model_row(name: str, value: Any, built_in: ModelRow | None = None) -> ModelRow | None:
    """Parse a model of the user's file; `None` if it is invalid.

    Without a label, the passed name is displayed.
    """
    if isinstance(value, str):
        value = {"passed": value}
    if not isinstance(value, dict):
        return None
    passed = value.get("passed", built_in.passed if built_in else None)
    if not isinstance(passed, str) or not passed.strip():
        return None
    label = value.get("label")
    if not isinstance(label, str) or not label.strip():
        label = built_in.label if built_in and passed == built_in.passed else passed
    return ModelRow(name, passed, label)
