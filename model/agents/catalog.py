"""The one mapping from the wire's neutral words to real programs, models and labels.

Nothing else in the program knows which word means what. A preset is a role; what it stands for the
programs tell (`model_lists`), and only until they have done so the names below serve. A person can
override them and add rows in `models.toml`; see `load_overrides`.
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
    """A model that people can choose."""

    name: str
    """On the wire and in settings."""
    passed: str
    """What the agent's program is told; empty for its own choice."""
    label: str
    description: str = ""
    efforts: tuple[str, ...] = ()
    """What it can be told to make, as far as its program tells."""
    default_effort: str = ""
    answers_as: str = ""
    """The full name, where `passed` is a short one."""
    is_default: bool = False
    """Whether its program takes it where none is chosen."""
    is_offered: bool = True
    """Whether lists to choose from show it; a preset gives way to the model that it stands for."""


@dataclass(frozen=True, slots=True)
class BackendRow:
    """A kind of agent program and the models it offers."""

    name: str
    label: str
    program: str
    """The command to look for; empty where the program ships with Spinney."""
    models: tuple[ModelRow, ...]


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """An editor or a terminal that a worktree can be opened in."""

    name: str
    label: str
    program: str
    """The command to look for; empty for what the system or the shell itself offers."""
    application: str = ""
    """What macOS calls it, for `open -a`."""


_CODEX_MODELS = (
    ("", "Default"),
    ("gpt-6-astra", "GPT-6-Astra"),
    ("gpt-6-sol", "GPT-6-Sol"),
    ("gpt-6.1-terra", "GPT-6.1 Terra"),
    ("gpt-6-luna", "GPT-6-Luna"),
)
"""Without a name the program takes the person's own model, or its newest (0.169)."""

BACKENDS = (
    BackendRow(
        "backend_a",
        "Claude Code",
        "claude",
        (
            ModelRow("model_1", "opus", "Opus"),
            # The program has no short names for these; it takes any full one at the start.
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
    """The backends with their models: those built in, or with a person's overrides."""

    backends: tuple[BackendRow, ...] = field(default=BACKENDS)

    def backend_rows(self, *, demo: bool = False) -> tuple[BackendRow, ...]:
        """The backends in the order in which people see them; the demo agent only on request."""
        return (DEMO, *self.backends) if demo else self.backends

    def backend(self, name: str) -> BackendRow | None:
        """The backend of this wire name."""
        return next((row for row in (*self.backends, DEMO) if row.name == name), None)

    def model(self, backend: str, name: str) -> ModelRow | None:
        """The backend's model of this wire name; `None` for a name that only its program knows."""
        row = self.backend(backend)
        return next((model for model in row.models if model.name == name), None) if row else None

    def resolve_model(self, backend: str, model: str) -> str:
        """The name handed to the backend's program: a preset's, or the given one as it is."""
        row = self.model(backend, model)
        return row.passed if row else model

    def label(self, word: str, model: str | None = None) -> str:
        """What a person sees for a backend, service, editor or terminal, or a backend's `model`.

        A model may go by its full name. A word that the catalogue does not know is shown as it is.
        """
        if model is not None:
            row = self.model(word, model) or self._of_full_name(word, model)
            return row.label if row else model
        named: tuple[BackendRow | ProgramRow, ...] = (*self.backends, DEMO, *EDITORS, *TERMINALS)
        return next((row.label for row in named if row.name == word), SERVICES.get(word, word))

    def offered(self, backend: str, model: str) -> str:
        """The name under which lists to choose from show this model, which may be a preset."""
        row = self.model(backend, model)
        if row is None or row.is_offered:
            return model
        shown = (each for each in self.models(backend) if each.passed == row.passed)
        return next((each.name for each in shown), model)

    def models(self, backend: str) -> tuple[ModelRow, ...]:
        """Those that people are offered."""
        row = self.backend(backend)
        return tuple(model for model in row.models if model.is_offered) if row else ()

    def with_models(self, backend: str, models: Iterable[ModelRow]) -> "Catalog":
        """The catalogue in which this backend has these models."""
        rows = (
            replace(row, models=tuple(models)) if row.name == backend else row
            for row in self.backends
        )
        return Catalog(tuple(rows))

    def _of_full_name(self, backend: str, name: str) -> ModelRow | None:
        found = (model for model in self.models(backend) if name and model.answers_as == name)
        return next((model for model in found if model.name), None)


BUILT_IN = Catalog()
PRESETS: Mapping[str, frozenset[str]] = MappingProxyType(
    {row.name: frozenset(model.name for model in row.models) for row in BACKENDS}
)
"""The names of the interface that stand for whatever a program has, by backend."""
SMALLEST: Mapping[str, str] = MappingProxyType({row.name: row.models[-1].name for row in BACKENDS})
"""The preset for small tasks, by backend."""


def load_overrides(path: Path) -> tuple[Catalog, list[str]]:
    """The catalogue with the overrides in `models.toml`, and a sentence for each problem.

    A table per backend; in it `model = "passed"`, or `model = {passed = "…", label = "…"}`. A file
    that cannot be read leaves the built-in catalogue; a bad row costs only that row.
    """
    tables, problems = read_tables(path, "The built-in models are used.")
    return (BUILT_IN, problems) if tables is None else _overridden(tables, path)


def read_tables(path: Path, instead: str) -> tuple[Mapping[str, Any] | None, list[str]]:
    """A person's TOML file; `None` where there is none or it cannot be read.

    The sentence for that names the line and ends in `instead`: what holds in the file's place.
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
        return None, [f"{path} could not be read ({error.strerror}); see its permissions."]
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return None, [f"{path}, line {line}: not UTF-8 text. {instead}"]
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return None, [f"{path}: {error}. {instead}"]


def _overridden(tables: Mapping[str, Any], path: Path) -> tuple[Catalog, list[str]]:
    problems: list[str] = []
    backends = {row.name: row for row in BACKENDS}
    for name, models in tables.items():
        if name not in backends:
            problems.append(f"{path}: [{name}] is none of {', '.join(backends)}; it is ignored.")
        elif not isinstance(models, dict):
            problems.append(f"{path}: {name} should be a table, [{name}]; it is ignored.")
        else:
            rows = {row.name: row for row in backends[name].models}
            for model, value in models.items():
                row = model_row(model, value, rows.get(model))
                if row:
                    rows[model] = row
                else:
                    problems.append(
                        f"{path}: {model} in [{name}] should be the model's name as text; "
                        "it is ignored."
                    )
            backends[name] = replace(backends[name], models=tuple(rows.values()))
    return Catalog(tuple(backends.values())), problems


def model_row(name: str, value: Any, built_in: ModelRow | None = None) -> ModelRow | None:
    """The row that `value` of a person's file describes, `None` where it describes none.

    Without a label, what is passed is what people see.
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
