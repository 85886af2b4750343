"""Dependencies with known vulnerabilities, as GitLab's dependency scanning has found them."""

import re
from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.domain.hosting import ItemState, SecurityAlert
from model.hosting.fields import get, get_body, get_line, get_rows, get_time
from model.hosting.forge import PAGE_SIZE, ItemText
from model.hosting.gitlab.answers import Project
from model.hosting.gitlab.fields import MAX_BODY
from model.hosting.gitlab.glab import query_graphql
from model.hosting.gitlab.projects import find_project

_MAX_PAGE: Final = 20
"""Pages are reached one after the other."""
_STATES: Final[dict[ItemState, list[str]]] = {
    "open": ["DETECTED", "CONFIRMED"],
    "closed": ["DISMISSED", "RESOLVED"],
    "all": ["DETECTED", "CONFIRMED", "DISMISSED", "RESOLVED"],
}
_FIELDS: Final = """
  id title severity state webUrl detectedAt updatedAt solution
  identifiers { externalType externalId name }
  location {
    ... on VulnerabilityLocationDependencyScanning {
      file dependency { version package { name } }
    }
    ... on VulnerabilityLocationContainerScanning {
      image dependency { version package { name } }
    }
  }
"""
_LIST: Final = f"""
query($project: ID!, $states: [VulnerabilityState!], $after: String, $first: Int) {{
  project(fullPath: $project) {{
    vulnerabilities(
      reportType: [DEPENDENCY_SCANNING, CONTAINER_SCANNING],
      state: $states, sort: detected_desc, first: $first, after: $after
    ) {{
      nodes {{ {_FIELDS} }}
      pageInfo {{ hasNextPage endCursor }}
    }}
  }}
}}
"""
_ONE: Final = (
    f"query($id: VulnerabilityID!) {{ vulnerability(id: $id) {{ description {_FIELDS} }} }}"
)
_PATCHED: Final = re.compile(r"[Uu]pgrade to (?:versions? )?(\S+)")
_UNAVAILABLE: Final = (
    "GitLab lists vulnerable dependencies only for projects with GitLab Ultimate and dependency "
    "scanning, to members who may read its vulnerability report."
)


async def list_vulnerabilities(path: Path, state: ItemState, page: int) -> list[SecurityAlert]:
    """Return a page of vulnerabilities of dependencies, those found last first."""
    project = await find_project(path)
    after: str | None = None
    for _ in range(min(page, _MAX_PAGE)):
        variables = {"project": project.path, "states": _STATES[state], "first": PAGE_SIZE}
        found = await _query(project, _LIST, {**variables, "after": after})
        if (listed := get(found, "project", "vulnerabilities")) is None:
            raise SpinneyError(_UNAVAILABLE, "forbidden")
        rows = get_rows(listed, "nodes")
        after = get_line(listed, "pageInfo", "endCursor")
        has_more = get(listed, "pageInfo", "hasNextPage") is True
        page -= 1
        if page and not has_more:
            return []
    return [_to_alert(row) for row in rows] if not page else []


async def fetch_vulnerability_text(project: Project, item_id: str) -> ItemText:
    """Return what GitLab knows of a vulnerability."""
    missing = SpinneyError(f"The vulnerability {item_id} does not exist.", "not_found")
    if not item_id.isdecimal():
        raise missing
    variables = {"id": f"gid://gitlab/Vulnerability/{int(item_id)}"}
    row = get(await _query(project, _ONE, variables), "vulnerability")
    if row is None:
        raise missing
    alert = _to_alert(row)
    facts = [
        ("package", alert.package),
        ("vulnerable", alert.vulnerable),
        ("severity", alert.severity),
        ("manifest", alert.manifest),
        ("advisory", alert.advisory),
        ("solution", get_line(row, "solution")),
    ]
    return ItemText(
        title=alert.title,
        url=alert.url,
        body=get_body(row, "description", MAX_BODY),
        facts=[(name, value) for name, value in facts if value],
    )


async def _query(project: Project, query: str, variables: dict[str, Any]) -> Any:
    try:
        return await query_graphql(project, query, variables)
    except SpinneyError as error:
        # The free edition does not know these fields.
        if "doesn't exist" in error.message:
            raise SpinneyError(_UNAVAILABLE, "forbidden") from None
        raise


def _to_alert(row: Any) -> SecurityAlert:
    number = get_line(row, "id").rpartition("/")[2]
    identifiers = get_rows(row, "identifiers")
    by_type = {
        get_line(each, "externalType"): get_line(each, "externalId") or get_line(each, "name")
        for each in reversed(identifiers)
    }
    solution = _PATCHED.search(get_line(row, "solution"))
    return SecurityAlert(
        id=number,
        number=int(number) if number.isdecimal() else 0,
        title=get_line(row, "title"),
        state=get_line(row, "state").lower(),
        url=get_line(row, "webUrl"),
        updated_at=get_time(row, "updatedAt") or get_time(row, "detectedAt"),
        package=get_line(row, "location", "dependency", "package", "name"),
        severity=get_line(row, "severity").lower(),
        manifest=get_line(row, "location", "file") or get_line(row, "location", "image"),
        vulnerable=get_line(row, "location", "dependency", "version"),
        patched=solution[1].rstrip(".,") if solution else "",
        advisory=by_type.get("cve") or by_type.get("ghsa") or next(iter(by_type.values()), ""),
    )
