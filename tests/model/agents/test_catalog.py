"""The catalog: programs, models and labels of the neutral names, and the user's overrides."""

from pathlib import Path

import pytest

from model.agents.catalog import BUILT_IN, EDITORS, TERMINALS, load_overrides
from model.preferences.fields import preference_fields


@pytest.mark.parametrize(
    ("name", "label", "program"),
    [
        ("backend_a", "Claude Code", "claude"),
        ("backend_b", "Codex", "codex"),
        ("backend_c", "OpenCode", "opencode"),
    ],
)
def test_each_backend_has_a_label_and_a_program(name: str, label: str, program: str) -> None:
    row = BUILT_IN.backend(name)
    assert row is not None
    assert (row.label, row.program) == (label, program)
    assert BUILT_IN.label(name) == label


@pytest.mark.parametrize(
    ("backend", "model", "passed"),
    [
        ("backend_a", "model_1", "opus"),
        ("backend_a", "model_2", "claude-opus-5"),
        ("backend_a", "model_3", "sonnet"),
        ("backend_a", "model_4", "claude-sonnet-5"),
        ("backend_a", "model_5", "haiku"),
        ("backend_b", "codex_model_1", ""),
        ("backend_b", "codex_model_2", "gpt-6-astra"),
        ("backend_b", "codex_model_3", "gpt-6-sol"),
        ("backend_b", "codex_model_4", "gpt-6.1-terra"),
        ("backend_b", "codex_model_5", "gpt-6-luna"),
        ("backend_c", "backend_c/codex_model_1", ""),
        ("backend_c", "anthropic/claude-x", "anthropic/claude-x"),
        ("backend_a", "any-name", "any-name"),
        ("backend_z", "any-name", "any-name"),
    ],
)
def test_a_preset_is_resolved_and_any_other_name_is_passed_on(
    backend: str, model: str, passed: str
) -> None:
    assert BUILT_IN.resolve_model(backend, model) == passed


def test_the_demo_agent_is_listed_only_on_request() -> None:
    assert "demo" not in [row.name for row in BUILT_IN.backend_rows()]
    assert BUILT_IN.backend_rows(demo=True)[0].label == "Demo agent"


def test_labels_are_real_names_and_unknown_names_are_unchanged() -> None:
    assert BUILT_IN.label("hosting") == "GitHub"
    assert BUILT_IN.label("tracker") == "Linear"
    assert BUILT_IN.label("backend_a", "model_5") == "Haiku"
    assert BUILT_IN.label("backend_a", "own-model") == "own-model"
    assert BUILT_IN.label("vscode") == "VS Code"
    assert BUILT_IN.label("something") == "something"


def test_the_choices_of_preferences_are_the_rows_of_the_catalog() -> None:
    fields = preference_fields()
    rows = {row.name: row for row in BUILT_IN.backend_rows()}
    assert fields["default_backend"].choices == tuple(rows)
    assert fields["selected_model"].choices == tuple(m.name for m in rows["backend_a"].models)
    assert fields["selected_codex_model"].choices == tuple(
        model.name for model in rows["backend_b"].models
    )
    assert fields["editor"].choices == tuple(row.name for row in EDITORS)
    assert fields["terminal"].choices == tuple(row.name for row in TERMINALS)


def test_without_a_file_the_built_in_catalog_is_used(tmp_path: Path) -> None:
    assert load_overrides(tmp_path / "models.toml") == (BUILT_IN, [])


def test_the_file_overrides_presets_and_adds_rows(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text(
        '[backend_a]\nmodel_1 = "opus-next"\nlocal = {passed = "my/model", label = "Mine"}\n'
        'model_5 = {label = "Small"}\n'
        '[backend_c]\n"backend_c/codex_model_1" = "opencode/other"\n'
    )
    catalog, problems = load_overrides(path)
    assert problems == []
    assert catalog.resolve_model("backend_a", "model_1") == "opus-next"
    assert catalog.label("backend_a", "model_1") == "opus-next"
    assert catalog.resolve_model("backend_a", "local") == "my/model"
    assert catalog.label("backend_a", "local") == "Mine"
    assert catalog.resolve_model("backend_a", "model_5") == "haiku"
    assert catalog.label("backend_a", "model_5") == "Small"
    assert catalog.resolve_model("backend_c", "backend_c/codex_model_1") == "opencode/other"
    assert catalog.resolve_model("backend_b", "codex_model_2") == "gpt-6-astra"


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b'[backend_a]\nmodel_1 = "opus\n', "line 2"),
        (b'[backend_a]\nmodel_1 = "a"\nmodel_1 = "b"\n', "line 3"),
        (b'[backend_a]\n\nmodel_1 = "\xff"\n', "line 3"),
        (b"#" * 1_000_001, "too large"),
        (b"a = " + b"[" * 5000, "models.toml"),
    ],
)
def test_a_bad_file_is_reported_with_its_line(tmp_path: Path, content: bytes, where: str) -> None:
    path = tmp_path / "models.toml"
    path.write_bytes(content)
    catalog, problems = load_overrides(path)
    assert catalog == BUILT_IN
    assert len(problems) == 1
    assert where in problems[0]
    assert "the built-in models are used" in problems[0].lower()


def test_an_invalid_row_is_ignored_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text('backend_b = 1\n[backend_a]\nmodel_1 = 3\nmodel_3 = "s"\n[other]\nx = "y"\n')
    catalog, problems = load_overrides(path)
    assert catalog.resolve_model("backend_a", "model_1") == "opus"
    assert catalog.resolve_model("backend_a", "model_3") == "s"
    assert len(problems) == 3
    for word, problem in zip(("backend_b", "model_1", "[other]"), problems, strict=True):
        assert word in problem
        assert "ignored" in problem


def test_a_directory_in_place_of_the_file_is_reported(tmp_path: Path) -> None:
    assert "could not be read" in load_overrides(tmp_path)[1][0]
