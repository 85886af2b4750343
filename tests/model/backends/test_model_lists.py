"""The models that presets resolve to, given the lists of models that the programs report."""

from pathlib import Path

import pytest

from model.agents.catalog import BUILT_IN, Catalog, load_overrides
from model.backends.model_lists import MODEL_LIMIT, ModelList, OfferedModel, apply_model_lists

CLAUDE = ModelList(
    models=[
        OfferedModel(name="opus", label="Opus 5.5", answers_as="claude-opus-5-5"),
        OfferedModel(name="fable", label="Fable 5.2", answers_as="claude-fable-5-2"),
        OfferedModel(name="sonnet", label="Sonnet 5.5", answers_as="claude-sonnet-5-5"),
        OfferedModel(name="haiku", label="Haiku 5.5", answers_as="claude-haiku-5-5"),
    ],
    default="claude-opus-5-5",
)
CODEX = ModelList(
    models=[
        OfferedModel(name="gpt-6.1-sol", label="GPT-6.1-Sol", description="Workhorse"),
        OfferedModel(name="gpt-6-astra", label="GPT-6-Astra", description="Frontier"),
        OfferedModel(name="gpt-6-sol", label="GPT-6-Sol"),
        OfferedModel(name="gpt-6-luna", label="GPT-6-Luna", description="Fast and affordable"),
        OfferedModel(name="gpt-5.6-sol", label="GPT-5.6-Sol", is_superseded=True),
        OfferedModel(name="gpt-6.1-terra", label="GPT-6.1 Terra", efforts=["low", "ultra"]),
    ],
    default="gpt-6.1-sol",
)
OPENCODE = ModelList(
    models=[OfferedModel(name="local/one", label="One"), OfferedModel(name="local/two", label="2")],
    default="local/one",
    small="local/two",
)


def make_catalog(**lists: ModelList) -> Catalog:
    return apply_model_lists(BUILT_IN, lists)


@pytest.mark.parametrize(
    ("backend", "reported", "expected"),
    [
        ("backend_a", CLAUDE, ["opus", "opus", "sonnet", "sonnet", "haiku"]),
        ("backend_a", ModelList(models=CLAUDE.models[3:]), ["", "", "", "", "haiku"]),
        ("backend_b", CODEX, ["", "gpt-6-astra", "gpt-6-sol", "gpt-6.1-terra", "gpt-6-luna"]),
        ("backend_b", ModelList(models=CODEX.models[:1], default="gpt-6.1-sol"), [
            "", "", "", "", "gpt-6.1-sol",
        ]),
        ("backend_b", CODEX.model_copy(update={"is_own_provider": True}), [""] * 5),
        ("backend_c", OPENCODE, ["", "", "", "", "local/two"]),
    ],
)  # fmt: skip
def test_a_preset_resolves_to_a_model_of_the_program(
    backend: str, reported: ModelList, expected: list[str]
) -> None:
    catalog = make_catalog(**{backend: reported})
    presets = BUILT_IN.models(backend)
    assert [catalog.resolve_model(backend, preset.name) for preset in presets] == expected


def test_lists_to_choose_from_have_each_model_once_and_the_default_first() -> None:
    catalog = make_catalog(backend_b=CODEX)
    offered = catalog.models("backend_b")
    assert [row.name for row in offered] == ["", *(model.name for model in CODEX.models)]
    assert (offered[0].label, offered[0].is_default) == ("Default (GPT-6.1-Sol)", True)
    assert offered[-1].efforts == ("low", "ultra")
    assert catalog.selectable_name("backend_b", "codex_model_2") == "gpt-6-astra"
    assert catalog.selectable_name("backend_b", "codex_model_1") == ""
    assert catalog.selectable_name("backend_b", "their-own") == "their-own"


def test_models_are_shown_by_their_labels() -> None:
    catalog = make_catalog(backend_a=CLAUDE)
    assert catalog.label("backend_a", "claude-haiku-5-5") == "Haiku 5.5"
    assert catalog.label("backend_a", "model_1") == "Opus 5.5"
    assert catalog.label("backend_a", "claude-old") == "claude-old"


def test_the_users_presets_take_precedence_over_the_programs_models(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text('[backend_a]\nmodel_1 = "opus-next"\nlocal = "my/model"\n')
    catalog = apply_model_lists(load_overrides(path)[0], {"backend_a": CLAUDE})
    assert catalog.resolve_model("backend_a", "model_1") == "opus-next"
    assert catalog.resolve_model("backend_a", "local") == "my/model"
    assert [row.name for row in catalog.models("backend_a")][:3] == ["", "model_1", "local"]


def test_a_flood_of_models_and_hidden_characters_are_not_kept() -> None:
    flood = [OfferedModel(name=f"m{n}", label="x\u202e" * 500) for n in range(2 * MODEL_LIMIT)]
    shown = ModelList(models=[OfferedModel(name="a\nb", label=""), *flood]).sanitized()
    assert len(shown.models) < MODEL_LIMIT
    assert shown.models[0].name == "m0"
    assert "\u202e" not in shown.models[0].label
