"""Plan mode allows nothing by itself about which build mode asks; Claude Code's decisions are in
`test_claude_policy`. The web is the exception, by preference.
"""

import itertools
from pathlib import Path

import pytest

from model.backends.acp import policy as acp_policy
from model.backends.base import Settings
from model.backends.codex.approvals import PendingRequest, decide_by_policy
from model.backends.codex.policy import build_turn_params
from model.backends.opencode import policy as opencode_policy
from model.domain.modes import ExecutionMode
from tests.model.backends.agents import make_launch

WIDTH = {"deny": 0, "ask": 1, None: 1, "allow": 2}


@pytest.mark.parametrize("web_in_plan", [True, False])
@pytest.mark.parametrize("own", ["allow", "ask", "deny", None])
def test_opencode(own: opencode_policy.Verdict | None, web_in_plan: bool) -> None:
    permissions = (
        *("read", "glob", "grep", "list", "codesearch", "lsp", "skill", "todowrite", "todoread"),
        *("edit", "bash", "external_directory", "task", "webfetch", "websearch", "loom", ""),
    )
    patterns = ("*", "a.txt", "/etc/*", "git log", "make", "ls; rm x", ".opencode/plugin/a.js")
    for permission, pattern in itertools.product(permissions, patterns):
        if permission in ("webfetch", "websearch") and web_in_plan and own is None:
            continue
        plan, build = (
            opencode_policy.judge(
                Settings(mode, web_in_plan=web_in_plan), permission, [pattern], own
            )
            for mode in ("plan", "build")
        )
        assert WIDTH[plan] <= WIDTH[build], (permission, pattern)


@pytest.mark.parametrize("has_plan_mode", [True, False])
def test_agents_over_acp(tmp_path: Path, has_plan_mode: bool) -> None:
    kinds = (
        *("read", "search", "think", "edit", "delete", "move", "execute", "fetch"),
        *("switch_mode", "other", "a-new-kind", ""),
    )
    for kind, paths in itertools.product(kinds, ([], ["a"], ["/etc/a"], ["a", "../b"])):
        plan, build = (
            acp_policy.judge(mode, kind, paths, tmp_path, has_plan_mode=has_plan_mode, web=False)
            for mode in ("plan", "build")
        )
        assert WIDTH[plan] <= WIDTH[build], (kind, paths)


def test_codex(tmp_path: Path) -> None:
    methods = (
        *("item/commandExecution/requestApproval", "item/fileChange/requestApproval"),
        *("item/permissions/requestApproval", "mcpServer/elicitation/request", "a/new/one"),
    )
    for method in methods:
        request = PendingRequest("r", method=method)
        plan, build = (decide_by_policy(request, mode) for mode in ("plan", "build"))
        assert WIDTH[plan] <= WIDTH[build], method

    def sandbox(mode: ExecutionMode) -> object:
        return build_turn_params(make_launch(tmp_path), Settings(mode), "", "low", [])[
            "sandboxPolicy"
        ]

    assert sandbox("plan") == {"type": "readOnly", "networkAccess": False}
    assert sandbox("plan") != sandbox("build")
