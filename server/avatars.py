"""Serves project avatars: images only, with a policy that runs nothing in them."""

import asyncio
from typing import TYPE_CHECKING, Final

from aiohttp import web

from model.base.errors import SpinneyError, project_not_found
from model.base.image_size import detect_format
from model.projects import avatars

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

PICTURE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
    "Cache-Control": "private, no-cache",
}


class Avatars:
    """Serves the avatars of projects."""

    def __init__(self, workspace: "Workspace") -> None:
        self._workspace = workspace

    async def serve(self, request: web.Request) -> web.Response:
        """The avatar of a project: PNG, JPEG, WebP or GIF."""
        project_id = request.match_info["project_id"]
        project = self._workspace.store.state.projects.get(project_id)
        if project is None:
            raise project_not_found(project_id)
        image = await asyncio.to_thread(self._read, project.avatar_path)
        if image is None:
            raise SpinneyError("The project has no avatar.", "not_found")
        content_type = f"image/{detect_format(image)}"
        return web.Response(body=image, content_type=content_type, headers=PICTURE_HEADERS)

    def _read(self, relative: str | None) -> bytes | None:
        path = avatars.find_saved(self._workspace.directories, relative)
        if path is None:
            return None
        try:
            return avatars.read_image(path)
        except SpinneyError:
            return None
