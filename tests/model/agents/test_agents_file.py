"""`agents.toml`: custom agents as rows of the catalog, and the problems that are reported."""

from pathlib import Path

import pytest

from model.agents.agents_file import AgentRow, McpServer, load_catalog
from model.agents.catalog import BUILT_IN, Catalog, ModelRow


def load(tmp_path: Path, text: str) -> tuple[Catalog, list[str]]:
    file = tmp_path / "agents.toml"
    file.write_text(text)
    return load_catalog(tmp_path / "models.toml", file)


def test_without_a_file_the_catalog_is_the_built_in_one(tmp_path: Path) -> None:
    assert load_catalog(tmp_path / "models.toml", tmp_path / "agents.toml") == (BUILT_IN, [])


def test_a_custom_agent_is_a_row_after_the_built_in_ones(tmp_path: Path) -> None:
    text = """
        [gemini]
        label = "Gemini CLI"
        command = "gemini"
        args = ["--experimental-acp"]
        env = {GOOGLE_CLOUD_PROJECT = "looms"}
        models = {pro = "gemini-2.5-pro", flash = {passed = "gemini-2.5-flash", label = "Flash"}}
        modes = {plan = "look", yolo = "wild"}

        [gemini.mcp_servers.files]
        command = "mcp-files"
        args = ["--read-only"]
        env = {ROOT = "/"}

        [gemini.mcp_servers.far]
        url = "https://mcp.example/"
        headers = {Authorization = "Bearer x"}
    """
    catalog, problems = load(tmp_path, text)
    assert problems == []
    assert catalog.backends[:-1] == BUILT_IN.backends
    assert catalog.backends[-1] == AgentRow(
        name="acp:gemini",
        label="Gemini CLI",
        program="gemini",
        models=(
            ModelRow("pro", "gemini-2.5-pro", "gemini-2.5-pro"),
            ModelRow("flash", "gemini-2.5-flash", "Flash"),
        ),
        args=("--experimental-acp",),
        env={"GOOGLE_CLOUD_PROJECT": "looms"},
        modes={"plan": "look", "yolo": "wild"},
        mcp_servers=(
            McpServer("files", "mcp-files", ("--read-only",), {"ROOT": "/"}),
            McpServer("far", url="https://mcp.example/", headers={"Authorization": "Bearer x"}),
        ),
    )
    assert catalog.label("acp:gemini") == "Gemini CLI"
    assert catalog.resolve_model("acp:gemini", "pro") == "gemini-2.5-pro"


def test_a_command_is_enough(tmp_path: Path) -> None:
    catalog, problems = load(tmp_path, '[goose]\ncommand = "goose"')
    assert (catalog.label("acp:goose"), problems) == ("goose", [])


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        ("bad = 3", "must define the agent as a table"),
        ("[bad]", 'needs command = "…"'),
        ('[bad]\ncommand = ["x"]', "must give command as text"),
        ('[bad]\ncommand = " "', "must give command as text"),
        ('["b d"]\ncommand = "x"', "may have only letters"),
        ('[bad]\ncommand = "x"\nargs = "-y"', "must give args as a list"),
        ('[bad]\ncommand = "x"\nenv = {A = 1}', "must give each value of env as text"),
        ('[bad]\ncommand = "x"\nlabel = 1', "must give label as text"),
        ('[bad]\ncommand = "x"\nmodels = ["m"]', "must give models as a table"),
        ('[bad]\ncommand = "x"\nmodels = {m = 1}', "must set the model 'm' to its name"),
        (
            '[bad]\ncommand = "x"\nmodes = {wild = "x"}',
            "unknown mode 'wild' (known: plan, build, yolo)",
        ),
        (
            '[bad]\ncommand = "x"\nenviron = {A = "b"}',
            "has an unknown key 'environ' (known: label,",
        ),
        ('[bad]\ncommand = "x"\nmcp_servers = {s = {}}', "either a command or a url"),
        (
            '[bad]\ncommand = "x"\nmcp_servers = {s = {path = "x"}}',
            "has an unknown key 'path' (known: ",
        ),
    ],
)
def test_an_invalid_agent_is_ignored_and_reported(tmp_path: Path, bad: str, word: str) -> None:
    catalog, problems = load(tmp_path, f'{bad}\n[good]\ncommand = "good"\n')
    assert [row.name for row in catalog.backends[len(BUILT_IN.backends) :]] == ["acp:good"]
    (problem,) = problems
    assert problem.startswith(f"{tmp_path / 'agents.toml'}: [b")
    assert word in problem
    assert problem.endswith("; it is ignored.")


def test_invalid_toml_is_reported_with_its_line(tmp_path: Path) -> None:
    catalog, (problem,) = load(tmp_path, "[good]\ncommand = \n")
    assert catalog == BUILT_IN
    assert "line 2" in problem
    assert problem.endswith("None of its agents is available.")


def test_the_problems_of_both_files_are_reported(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text("[backend_z]\n")
    _, problems = load(tmp_path, "bad = 3")
    assert ["backend_z" in problems[0], "[bad]" in problems[1]] == [True, True]
