"""The models that the agents' programs told, kept on disk so that they are known at once.

Every agent that starts tells its list anew, which costs nothing. A program is started for its list
alone where somebody wants to choose and nothing is known, and some time after the start for agents
that are in use and whose list is old: another version, another configuration, another day.
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
from model.backends import base
from model.backends.claude import models as claude_models
from model.backends.model_lists import ModelList, with_lists
from model.base.errors import SpinneyError
from model.base.paths import write_atomically
from model.domain.resources import Resource
from model.preferences import profiles
from model.preferences.precedence import model_for
from model.preferences.schema import CliProfile, Preferences

ASK_PATIENCE: Final = 45.0
"""Seconds for a program to start and to tell its list."""

_OLD: Final = 24 * 3600.0
"""Seconds after which a list is asked for again."""

_MOST: Final = 16
"""Lists that are kept: one for each agent and provider profile."""

_VERSION: Final = 1
_MOST_BYTES: Final = 8_000_000

_log = logging.getLogger(__name__)

InBackground = Callable[[Coroutine[Any, Any, None]], None]


class Told(Resource):
    """What a program told, and when."""

    list: ModelList
    at: float = 0
    stands_on: str = ""
    """What the program and its configuration were like."""


class _File(Resource):
    version: int = _VERSION
    told: dict[str, Told] = Field(default_factory=dict)


class KnownModels:
    """Knows the lists by agent and provider profile; `changed` hears of new ones."""

    def __init__(
        self,
        file: Path,
        catalog: Catalog,
        backends: Mapping[str, base.Backend],
        environment: Mapping[str, str],
        in_background: InBackground,
        changed: Callable[[str], None],
    ) -> None:
        self._file = file
        self._own = catalog
        self._backends = backends
        self._environment = environment
        self._in_background = in_background
        self._changed = changed
        self._told: dict[str, Told] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._saving = asyncio.Lock()
        self._is_unsaved = False
        self.catalog = catalog
        """The catalogue with what is known of the plain accounts."""

    async def load(self) -> None:
        """Read what was known when Spinney ended. A file that does not serve is as none."""
        self._told = await asyncio.to_thread(_read, self._file)
        self._compose()

    def resolve(self, backend: str, model: str, profile: str = "") -> tuple[str, bool]:
        """What the program is told for a session's model, and whether that is a preset.

        `profile` is the name of a provider profile, empty for the program's own account.
        """
        is_preset = model in PRESETS.get(backend, frozenset())
        return self.catalog_of(backend, profile).resolve_model(backend, model), is_preset

    def catalog_of(self, backend: str, profile: str) -> Catalog:
        """The catalogue with what the program told when it was started with this profile."""
        told = self._told.get(_key(backend, profile))
        return with_lists(self._own, {backend: told.list}) if told else self.catalog

    async def for_new(
        self,
        backend: str,
        preferences: Preferences,
        worktree: Path,
        profile: str,
    ) -> str:
        """The model of a new session for which nobody named one.

        Empty, which is the program's own choice, where the preference is as it came and the
        person's own configuration of Claude Code names a model. The first presets of the other
        agents are their programs' own choice anyway.
        """
        usual = model_for(backend, preferences)
        default = Preferences.model_fields["selected_model"].default
        if backend != "backend_a" or usual != default:
            return usual
        chosen = next((p for p in preferences.custom_cli_profiles if p.name == profile), None)
        try:
            settings = await asyncio.to_thread(profiles.read, chosen) if chosen else {}
        except SpinneyError:
            settings = {}  # whoever starts the agent is told
        where = worktree, self._environment, settings
        return "" if await asyncio.to_thread(claude_models.own_model, *where) else usual

    def note(self, backend: str, models: ModelList, profile: str) -> None:
        """A program that was started with this provider profile told its models."""
        self._in_background(self._note(_key(backend, profile), backend, models.shown()))

    async def ask(
        self, backend: str, profile: CliProfile | None = None, patience: float = ASK_PATIENCE
    ) -> None:
        """Start the agent's program for its list, unless the known one is of today's program."""
        driver: object = self._backends.get(backend)
        if not isinstance(driver, base.ListsModels):
            return
        key = _key(backend, profile)
        stands_on = await asyncio.to_thread(_signature, driver, self._environment)
        told = self._told.get(key)  # what was told while the files were looked at, too
        if told and told.stands_on == stands_on and time.time() - told.at < _OLD:
            return
        asking = self._asking.get(key)
        if asking is None:
            asking = asyncio.create_task(self._ask(backend, profile, patience))
            self._asking[key] = asking
            asking.add_done_callback(lambda _: self._asking.pop(key, None))
        await asyncio.shield(asking)

    def is_known(self, backend: str, profile: CliProfile | None = None) -> bool:
        """Whether the program told its models."""
        return _key(backend, profile) in self._told

    async def close(self) -> None:
        """End the programs that are just being asked, and save what was told last."""
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        if self._is_unsaved:
            await self._save()

    async def _ask(self, backend: str, profile: CliProfile | None, patience: float) -> None:
        try:
            settings = await asyncio.to_thread(profiles.read, profile) if profile else {}
            if not profiles.suits(settings, backend):
                return  # It works with its own account.
            async with asyncio.timeout(patience):
                models = await self._listed_by(self._backends[backend], settings)
            await self._note(_key(backend, profile), backend, models.shown())
        except TimeoutError:
            _log.info("the models of %s: no answer in %g seconds", backend, patience)
        except SpinneyError as error:
            _log.info("the models of %s: %s", backend, error.message)

    async def _listed_by(self, backend: base.Backend, profile: Mapping[str, Any]) -> ModelList:
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
                if isinstance(event, base.ModelsKnown):
                    return event.models
        finally:
            await agent.close()
        raise SpinneyError("its program ended before it told them", "backend_error")

    async def _note(self, key: str, backend: str, models: ModelList) -> None:
        driver: object = self._backends.get(backend)
        stands_on = ""
        if isinstance(driver, base.ListsModels):
            stands_on = await asyncio.to_thread(_signature, driver, self._environment)
        before = self._told.pop(key, None)
        self._told[key] = Told(list=models, at=time.time(), stands_on=stands_on)
        for oldest in list(self._told)[:-_MOST]:
            del self._told[oldest]
        is_new = before is None or before.list != models
        if is_new or before is None or before.stands_on != stands_on or _is_old(before):
            self._is_unsaved = True
        if is_new:
            self._compose()
            self._changed(backend)
        if self._is_unsaved:
            await self._save()

    def _compose(self) -> None:
        lists = {name: told.list for name, told in self._told.items() if name in PRESETS}
        self.catalog = with_lists(self._own, lists)

    async def _save(self) -> None:
        async with self._saving:
            content = _File(told=self._told).model_dump_json().encode()
            try:
                await asyncio.to_thread(write_atomically, self._file, content)
                self._is_unsaved = False
            except SpinneyError as error:
                _log.warning("the models of the agents: %s", error.message)


def _key(backend: str, profile: CliProfile | str | None) -> str:
    name = profile.name if isinstance(profile, CliProfile) else profile
    return f"{backend} {name}" if name else backend


def _is_old(told: Told) -> bool:
    return time.time() - told.at > _OLD / 2


def _signature(driver: base.ListsModels, environment: Mapping[str, str]) -> str:
    """What changes with the program and its configuration. Looks at files."""
    seen = []
    for file in driver.models_stand_on(environment):
        try:
            facts = file.stat()
            seen.append((str(file), facts.st_mtime_ns, facts.st_size))
        except OSError:
            seen.append((str(file), 0, 0))
    return hashlib.sha256(repr(seen).encode()).hexdigest()


def _read(file: Path) -> dict[str, Told]:
    try:
        with file.open("rb") as opened:
            read = _File.model_validate_json(opened.read(_MOST_BYTES))
    except FileNotFoundError:
        return {}
    except (OSError, ValidationError) as error:
        _log.warning("%s is not used: %s", file, error)
        return {}
    return read.told if read.version == _VERSION else {}
