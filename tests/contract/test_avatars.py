"""The avatar rows of section 4.4: accepted files, where they are stored, how they are served."""

import base64
import json
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import aiohttp
import pytest

from tests.contract.conftest import Call, Target, expect_error
from tests.model.git.repository import Repository
from tests.program import Program, Serving

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32
PICTURES = {
    "png": PNG,
    "jpeg": b"\xff\xd8\xff\xe0" + b"\0" * 32,
    "gif": b"GIF89a" + b"\0" * 32,
    "webp": b"RIFF\x20\0\0\0WEBPVP8 " + b"\0" * 32,
}


@pytest.fixture
def data(target: Target) -> Path:
    """The data directory."""
    return target.data


@pytest.fixture
async def project_id(call: Call, repository_path: str) -> str:
    return str((await call("add_project", path=repository_path))["id"])


@pytest.mark.parametrize("kind", PICTURES)
async def test_set_project_avatar_copies_the_picture_under_a_random_name(
    call: Call, project_id: str, kind: str, tmp_path: Path, data: Path
) -> None:
    picture = tmp_path / "picture.txt"
    picture.write_bytes(PICTURES[kind])
    kept = await call("set_project_avatar", projectId=project_id, path=str(picture))
    assert set(kept) == {"avatar_path"}
    path = Path(kept["avatar_path"])
    assert (path.parent, path.suffix) == (Path("avatars"), f".{kind}")
    assert (data / path).read_bytes() == PICTURES[kind]
    assert "picture" not in path.name
    assert (await call("list_projects"))[0]["avatar_path"] == kept["avatar_path"]


async def test_a_picture_may_be_given_in_base64(call: Call, project_id: str) -> None:
    text = base64.b64encode(PNG).decode()
    for data in (text, f"data:image/png;base64,{text}"):
        assert await call("set_project_avatar", projectId=project_id, data=data)
    error = await expect_error(call, "set_project_avatar", projectId=project_id, data="no base64!")
    assert error.startswith("Invalid field 'data': ")


@pytest.mark.parametrize("place", ["logo.png", ".github/logo.png", "public/favicon.png"])
async def test_without_a_picture_the_logo_of_the_repository_is_used(
    call: Call, project_id: str, place: str, repository: Repository, data: Path
) -> None:
    path = repository.root / place
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(PNG)
    kept = await call("set_project_avatar", projectId=project_id)
    assert (data / kept["avatar_path"]).read_bytes() == PNG


async def test_a_repository_without_a_logo_is_an_error(
    call: Call, project_id: str, repository_path: str, tmp_path: Path, repository: Repository
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "logo.png").write_bytes(PNG)
    (repository.root / "public").symlink_to(tmp_path / "outside")
    error = await expect_error(call, "set_project_avatar", projectId=project_id)
    assert error == f"No logo was found in {repository_path}. Choose an image file."


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "must be a PNG"),
        (b"<html><script>alert(1)</script>", "must be a PNG"),
        (b"", "must be a PNG"),
        (PNG + b"\0" * 2 * 1024 * 1024, "larger than 2 MiB"),
    ],
    ids=["svg", "html", "empty", "large"],
)
async def test_large_files_and_other_file_types_are_refused(
    call: Call, project_id: str, content: bytes, words: str, tmp_path: Path
) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(content)
    error = await expect_error(call, "set_project_avatar", projectId=project_id, path=str(picture))
    assert words in error


async def test_links_and_pipes_and_folders_are_refused(
    call: Call, project_id: str, tmp_path: Path
) -> None:
    (tmp_path / "picture").write_bytes(PNG)
    (tmp_path / "link").symlink_to(tmp_path / "picture")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "link", tmp_path / "pipe", tmp_path, tmp_path / "missing"):
        error = await expect_error(call, "set_project_avatar", projectId=project_id, path=str(path))
        assert error.startswith(f"The image cannot be read: {path}")


async def test_remove_project_avatar_removes_the_file_too(
    call: Call, project_id: str, data: Path
) -> None:
    text = base64.b64encode(PNG).decode()
    for _ in range(2):
        await call("set_project_avatar", projectId=project_id, data=text)
        assert len(list((data / "avatars").iterdir())) == 1
    assert (await call("remove_project_avatar", projectId=project_id))["avatar_path"] is None
    assert list((data / "avatars").iterdir()) == []


async def fetch_avatar(
    place: Target | Serving, project_id: str, token: str | None = None
) -> tuple[int, Mapping[str, str], bytes]:
    """Request the avatar over HTTP; returns status, headers and body."""
    url = f"{place.base_url}/api/projects/{project_id}/avatar"
    headers = {"Authorization": f"Bearer {token or place.token}"}
    async with aiohttp.request("GET", url, headers=headers) as response:
        return response.status, response.headers, await response.read()


async def test_a_picture_is_served_with_headers_that_prevent_scripts(
    call: Call, project_id: str, target: Target
) -> None:
    data = base64.b64encode(PNG).decode()
    await call("set_project_avatar", projectId=project_id, data=data)
    status, headers, body = await fetch_avatar(target, project_id)
    assert (status, body) == (200, PNG)
    assert headers["Content-Type"] == "image/png"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert (await fetch_avatar(target, project_id, "wrong"))[0] == 401


async def test_stored_paths_outside_the_avatars_directory_are_not_served(program: Program) -> None:
    stored = ["avatars/gone.png", "secret.png", "avatars/../secret.png", "/etc/passwd", "a\0"]
    with program.serving() as serving:
        ids = [
            program.call("create_folder", f"name=folder {n}")["id"] for n, _ in enumerate(stored)
        ]
        serving.end()
    (program.data / "secret.png").write_bytes(PNG)
    with closing(sqlite3.connect(program.data / "spinney.db")) as database, database:
        change = "UPDATE documents SET body = json_set(body, '$.avatar_path', ?) WHERE id = ?"
        database.executemany(change, zip(stored, ids, strict=True))
    with program.serving() as serving:
        for item in ids:
            status, _, body = await fetch_avatar(serving, item)
            assert (status, json.loads(body)["error_type"]) == (404, "not_found")
