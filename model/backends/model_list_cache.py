"""A cache on disk of the model lists that agent programs report, available right at start.

Every agent that starts reports its list again, at no cost. A program is started only for its list
when the user wants to choose a model and none are known, and some time after Spinney's start for
agents that are in use and whose list is stale: another version, another configuration, another day.
"""

import asyncio
import hashlib
import logging
import time
import uuid
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import Field, ValidationError

from model.agents.catalog import PRESETS, Catalog
from model.backends import agent_events, base
from model.backends.claude import models as claude_models
from model.backends.model_lists import ModelList, apply_model_lists
from model.base.errors import SpinneyError
from model.base.paths import write_atomically
from model.domain.resource import Resource
from model.preferences import profiles
from model.preferences.precedence import choose_model
from model.preferences.schema import CliProfile, Preferences

_LIST_TIMEOUT: Final = 120.0
"""Seconds for a program to start and report its list; on a loaded machine OpenCode takes long."""

_MAX_AGE: Final = 24 * 3600.0
"""Seconds after which a list is stale."""

_MAX_LISTS: Final = 16
"""Maximum number of lists kept, one for each agent and provider profile."""

_VERSION: Final = 2
_MAX_BYTES: Final = 8_000_000

_log = logging.getLogger(__name__)

InBackground = Callable[[Coroutine[Any, Any, None]], None]


class CachedList(Resource):
    """A model list and when it was reported. The field names are the file's format."""

    list: ModelList
    at: float = 0
    stands_on: str = ""
    """Signature of the program and its configuration at that time."""


class _File(Resource):
    version: int = _VERSION
    lists: dict[str, CachedList] = Field(default_factory=dict)


class ModelListCache:
    """Model lists by agent and provider profile; calls `on_change` when one changes."""

    def __init__(
        self,
        file: Path,
        catalog: Catalog,
        backends: Mapping[str, base.Backend],
        environment: Mapping[str, str],
        in_background: InBackground,
        on_change: Callable[[str], None],
    ) -> None:
        self._file = file
        self._base_catalog = catalog
        self._backends = backends
        self._environment = environment
        self._in_background = in_background
        self._on_change = on_change
        self._cached: dict[str, CachedList] = {}
        self._requests: dict[str, asyncio.Task[None]] = {}
        self._save_lock = asyncio.Lock()
        self._is_unsaved = False
        self.catalog = catalog
        """The catalog with the lists of the accounts without a provider profile."""

    async def load(self) -> None:
        """Read the cache file. An unusable file is ignored."""
        self._cached = await asyncio.to_thread(_read, self._file)
        self._compose()

    def resolve_model(self, backend: str, model: str, profile: str = "") -> tuple[str, bool]:
        """The model name to pass to the program for a session's model, and whether it is a preset.

        `profile` is the name of a provider profile, empty for the program's own account.
        """
        is_preset = model in PRESETS.get(backend, frozenset())
        return self.get_catalog(backend, profile).resolve_model(backend, model), is_preset

    def get_catalog(self, backend: str, profile: str) -> Catalog:
        """The catalog with the list that the program reported when started with this profile."""
        cached = self._cached.get(_key(backend, profile))
        return (
            apply_model_lists(self._base_catalog, {backend: cached.list})
            if cached
            else self.catalog
        )

    async def choose_default_model(
        self,
        backend: str,
        preferences: Preferences,
        worktree: Path,
        profile: str,
    ) -> str:
        """The model of a new session for which none was specified.

        Empty, for the program's own default, if the preference is unchanged and the user's own
        configuration of Claude Code names a model. The first presets of the other agents are their
        programs' defaults anyway.
        """
        model = choose_model(backend, preferences)
        default = Preferences.model_fields["selected_model"].default
        if backend != "backend_a" or model != default:
            return model
        chosen = next((p for p in preferences.custom_cli_profiles if p.name == profile), None)
        try:
            settings = await asyncio.to_thread(profiles.read_settings, chosen) if chosen else {}
        except SpinneyError:
            settings = {}  # starting the agent reports it
        arguments = worktree, self._environment, settings
        return "" if await asyncio.to_thread(claude_models.find_user_model, *arguments) else model

    def update(self, backend: str, models: ModelList, profile: str) -> None:
        """Store, in the background, the models of a program started with this provider profile."""
        self._in_background(self._store(_key(backend, profile), backend, models.sanitized()))

    async def refresh(self, backend: str, profile: CliProfile | None = None) -> None:
        """Start the agent's program to fetch its list, unless the cached one is current.

        A caller that is cancelled does not end the request; others may wait for it.
        """
        key = _key(backend, profile)
        request = self._requests.get(key)
        if request is None:
            request = asyncio.create_task(self._request_if_stale(backend, profile))
            self._requests[key] = request
            request.add_done_callback(lambda _: self._requests.pop(key, None))
        await asyncio.shield(request)

    def is_known(self, backend: str, profile: CliProfile | None = None) -> bool:
        """Whether a list is cached."""
        return _key(backend, profile) in self._cached

    async def close(self) -> None:
        """Cancel running requests and save unsaved lists."""
        requests = list(self._requests.values())
        for task in requests:
            task.cancel()
        await asyncio.gather(*requests, return_exceptions=True)
        if self._is_unsaved:
            await self._save()

    async def _request_if_stale(self, backend: str, profile: CliProfile | None) -> None:
        lister: object = self._backends.get(backend)
        if not isinstance(lister, base.ModelLister):
            return
        signature = await asyncio.to_thread(_signature, lister, self._environment)
        cached = self._cached.get(_key(backend, profile))  # after the await: it may just be stored
        if cached and cached.stands_on == signature and time.time() - cached.at < _MAX_AGE:
            return
        await self._request(backend, profile)

    async def _request(self, backend: str, profile: CliProfile | None) -> None:
        try:
            settings = await asyncio.to_thread(profiles.read_settings, profile) if profile else {}
            if not profiles.is_compatible(settings, backend):
                return  # the profile is not for this agent, which uses its own account
            async with asyncio.timeout(_LIST_TIMEOUT):
                models = await self._fetch(self._backends[backend], settings)
            await self._store(_key(backend, profile), backend, models.sanitized())
        except TimeoutError:
            _log.info("model list of %s: no response within %g seconds", backend, _LIST_TIMEOUT)
        except SpinneyError as error:
            _log.info("model list of %s: %s", backend, error.message)

    async def _fetch(self, backend: base.Backend, profile: Mapping[str, Any]) -> ModelList:
        launch = base.Launch(
            session_id=str(uuid.uuid4()),
            worktree=self._file.parent,
            settings=base.Settings("plan"),
            environment=self._environment,
            profile=profile,
            text_only=True,
        )
        agent = await backend.open(launch)
        try:
            async for event in agent.events():
                if isinstance(event, agent_events.ModelsListed):
                    return event.models
        finally:
            await agent.close()
        raise SpinneyError("the program ended before it reported its models", "backend_error")

    async def _store(self, key: str, backend: str, models: ModelList) -> None:
        lister: object = self._backends.get(backend)
        signature = ""
        if isinstance(lister, base.ModelLister):
            signature = await asyncio.to_thread(_signature, lister, self._environment)
        previous = self._cached.pop(key, None)
        self._cached[key] = CachedList(list=models, at=time.time(), stands_on=signature)
        for oldest in list(self._cached)[:-_MAX_LISTS]:
            del self._cached[oldest]
        is_new = previous is None or previous.list != models
        if is_new or previous is None or previous.stands_on != signature or _is_aging(previous):
            self._is_unsaved = True
        if is_new:
            self._compose()
            self._on_change(backend)
        if self._is_unsaved:
            await self._save()

    def _compose(self) -> None:
        lists = {name: cached.list for name, cached in self._cached.items() if name in PRESETS}
        self.catalog = apply_model_lists(self._base_catalog, lists)

    async def _save(self) -> None:
        async with self._save_lock:
            content = _File(lists=self._cached).model_dump_json().encode()
            try:
                await asyncio.to_thread(write_atomically, self._file, content)
                self._is_unsaved = False
            except SpinneyError as error:
                _log.warning("cannot save the model lists: %s", error.message)


def _key(backend: str, profile: CliProfile | str | None) -> str:
    name = profile.name if isinstance(profile, CliProfile) else profile
    return f"{backend} {name}" if name else backend


def _is_aging(cached: CachedList) -> bool:
    return time.time() - cached.at > _MAX_AGE / 2


def _signature(lister: base.ModelLister, environment: Mapping[str, str]) -> str:
    """A hash that changes with the program and its configuration. Stats files."""
    entries = []
    for file in lister.list_model_sources(environment):
        try:
            status = file.stat()
            entries.append((str(file), status.st_mtime_ns, status.st_size))
        except OSError:
            entries.append((str(file), 0, 0))
    return hashlib.sha256(repr(entries).encode()).hexdigest()


def _read(file: Path) -> dict[str, CachedList]:
    try:
        with file.open("rb") as stream:
            content = _File.model_validate_json(stream.read(_MAX_BYTES))
    except FileNotFoundError:
        return {}
    except (OSError, ValidationError) as error:
        _log.warning("ignoring %s: %s", file, error)
        return {}
    return content.lists if content.version == _VERSION else {}
