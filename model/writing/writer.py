"""An agent asked once for a short text, in a conversation that belongs to no session.

The agent and the account are the prompt's own, else the project's, else the person's: what there
is to read never leaves by another account than the provider profile says. It gets no tools, its
program is ended as soon as it has answered, and whoever asks must be able to do without:
everything that can go wrong is a `SpinneyError`.
"""

import asyncio
import logging
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from model.agents.catalog import SMALLEST
from model.backends import base
from model.backends.known_models import KnownModels
from model.base.errors import SpinneyError
from model.base.text import clean_line, make_visible
from model.domain.resources import Worktree
from model.preferences import profiles
from model.preferences.precedence import backend_for, model_for
from model.preferences.schema import Preferences
from model.store.store import Store
from model.writing.prompts import BUILT_IN, ROLE, WritingKey, whole_prompt

PATIENCE: Final = 60.0
"""Seconds from the start of the program to the end of its answer."""

_LONGEST: Final = 100_000
"""Characters of an answer; one that goes on is none."""

# Programs put the file into the prompt where they read `@path`. In a difference that would be any
# file of this machine that the branch's author names (2.1.329 reads it, tools or not), so no `@`
# may begin a word.
_JOINER: Final = "\u2060"

_MARKDOWN_FENCE: Final = re.compile(r"(`{3,})(?:markdown|md)\n(.*)\n\1", re.DOTALL)

_log = logging.getLogger(__name__)


class Writer:
    """Knows which agent writes, and lets it."""

    def __init__(
        self,
        store: Store,
        backends: Mapping[str, base.Backend],
        models: KnownModels,
        environment_of: Callable[[Worktree], Mapping[str, str]],
        *,
        demo: bool = False,
    ) -> None:
        self._store = store
        self._backends = backends
        self._models = models
        self._environment_of = environment_of
        self._demo = demo
        self._endings: set[asyncio.Task[None]] = set()

    async def is_there(self, key: WritingKey, worktree: Worktree) -> bool:
        """Whether the agent of this prompt is installed and, as far as is known, signed in.

        A provider profile stands for an account, or else says itself what is wrong.
        """
        backend = self._backends.get(self._backend_name(key, worktree))
        probe = await backend.probe() if backend else base.Probe(program=None)
        may_ask = probe.signed_in is not False or bool(self._profile_name(key, worktree))
        return probe.program is not None and may_ask

    async def write(
        self,
        key: WritingKey,
        worktree: Worktree,
        material: Mapping[str, str],
        wanted: Sequence[str],
    ) -> dict[str, str]:
        """Let the prompt's agent write the `wanted` parts of a text, such as `title` and `body`.

        Args:
            key: The prompt, with the agent and the model that a person chose for it.
            worktree: Where the agent's program runs.
            material: What to write about, by tag; empty texts are left out.
            wanted: The tags of the answer, in order.

        Raises:
            SpinneyError: The agent is missing, failed, took longer than `PATIENCE`, asked back, or
                answered in another form.
        """
        preferences = self._store.state.preferences
        task = preferences.magic_prompts.get(key) or BUILT_IN[key]
        text = whole_prompt(task, material, wanted, clean_line(preferences.ai_language))
        answer = await self._ask(key, worktree, text.replace("@", f"{_JOINER}@"))
        return _parts(answer.replace(_JOINER, ""), wanted)

    async def close(self) -> None:
        """Wait until every program that was asked has ended."""
        await asyncio.gather(*self._endings, return_exceptions=True)

    async def _ask(self, key: WritingKey, worktree: Worktree, text: str) -> str:
        name = self._backend_name(key, worktree)
        backend = self._backends.get(name)
        if backend is None:
            raise SpinneyError(
                f"Spinney cannot drive {self._models.catalog.label(name)} here.",
                "backend_unavailable",
            )
        launch = await self._launch(key, worktree, name)
        opening = asyncio.create_task(backend.open(launch))
        try:
            async with asyncio.timeout(PATIENCE):
                agent = await asyncio.shield(opening)
                await agent.send(base.Prompt(text))
                return await _answer(agent)
        except TimeoutError:
            label = self._models.catalog.label(name)
            raise SpinneyError(
                f"{label} took longer than {PATIENCE:g} seconds.", "timeout"
            ) from None
        except SpinneyError:
            raise
        except Exception as error:
            _log.exception("an agent that was to write a text failed")
            raise SpinneyError("The agent failed; Spinney's log says how.") from error
        finally:
            # Nobody waits for the program's end, and least of all for one that does not start.
            ending = asyncio.create_task(_end(opening))
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)

    async def _launch(self, key: WritingKey, worktree: Worktree, backend: str) -> base.Launch:
        chosen = self._model(key, backend, self._store.state.preferences)
        profile = self._profile_name(key, worktree)
        model, is_preset = self._models.resolve(backend, chosen, profile)
        return base.Launch(
            session_id=str(uuid.uuid4()),
            worktree=Path(worktree.path),
            settings=base.Settings("plan", model, model_is_preset=is_preset),
            system_prompt=ROLE,
            environment=self._environment_of(worktree),
            text_only=True,
            profile=await self._profile(key, worktree, backend),
        )

    def _profile_name(self, key: WritingKey, worktree: Worktree) -> str:
        state = self._store.state
        project = state.projects.get(worktree.project_id)
        return profiles.name_for(state.preferences, project, key)

    async def _profile(
        self, key: WritingKey, worktree: Worktree, backend: str
    ) -> Mapping[str, object]:
        """The settings of the chosen profile. Raises where the agent would use another account."""
        name = self._profile_name(key, worktree)
        profile = profiles.named(name, self._store.state.preferences)
        found = await asyncio.to_thread(profiles.read, profile) if profile else {}
        if not profiles.suits(found, backend):
            label = self._models.catalog.label(backend)
            raise SpinneyError(
                f"The provider profile “{name}” is not for {label}, which would write this with"
                " an account of its own. Choose another agent or profile for it, in"
                " magic_prompt_backends or magic_prompt_providers of the preferences.",
                "conflict",
            )
        return found

    def _backend_name(self, key: WritingKey, worktree: Worktree) -> str:
        state = self._store.state
        chosen = state.preferences.magic_prompt_backends.get(f"{key}_backend")
        project = state.projects.get(worktree.project_id)
        if chosen is not None and self._models.catalog.backend(chosen) is None:
            chosen = None  # an agent of agents.toml that is not there any more
        return backend_for(
            project, state.preferences, chosen, catalog=self._models.catalog, demo=self._demo
        )

    def _model(self, key: WritingKey, backend: str, preferences: Preferences) -> str:
        """The prompt's model; a preset of another backend as this one has it: small, or usual."""
        if key == "branch_naming":
            chosen: str = preferences.branch_naming_model
        else:
            chosen = preferences.magic_prompt_models[f"{key}_model"]
        if key == "session_naming" and chosen == _default_model(key):
            chosen = preferences.session_naming_model  # a setting of its own, in the same words
        rows = self._models.catalog.backend_rows(demo=True)
        others = (row.name for row in rows if row.name != backend)
        if self._models.catalog.model(backend, chosen) is None and any(
            self._models.catalog.model(other, chosen) for other in others
        ):
            usual = model_for(backend, preferences)
            return SMALLEST.get(backend, usual) if chosen in SMALLEST.values() else usual
        return chosen


def _default_model(key: WritingKey) -> str:
    defaults: dict[str, str] = Preferences.model_fields["magic_prompt_models"].default
    return defaults[f"{key}_model"]


async def _answer(agent: base.Agent) -> str:
    """All that the agent says in its turn."""
    said: dict[str, str] = {}
    async for event in agent.events():
        match event:
            case base.TextDelta(kind="text"):
                said[event.block] = said.get(event.block, "") + event.text
            case base.TextFinal(kind="text"):
                said[event.block] = event.text
            case base.BlockDropped():
                said.pop(event.block, None)
            case base.PlanProposed() | base.QuestionAsked() | base.PermissionAsked():
                raise SpinneyError("The agent asked back instead of writing.", "backend_error")
            case base.TurnFailed():
                raise SpinneyError(event.error, event.error_type)
            case base.TurnFinished():
                return "\n".join(said.values())
        if sum(map(len, said.values())) > _LONGEST:
            raise SpinneyError("The agent wrote without end.", "backend_error")
    raise SpinneyError("The agent's program ended before it had answered.", "backend_error")


async def _end(opening: "asyncio.Task[base.Agent]") -> None:
    try:
        agent = await opening
        await agent.close()
    except SpinneyError as error:
        _log.info("an agent that was to write a text: %s", error.message)
    except Exception:
        _log.exception("an agent that was to write a text did not end as it should")


def _parts(answer: str, wanted: Sequence[str]) -> dict[str, str]:
    """The wanted parts of an answer, cleaned. Words around them, without tags, do no harm."""
    texts = [_plain(text) for text in _between(answer, wanted)]
    if not all(texts) or not texts:
        raise SpinneyError(
            "The agent did not answer in the form that it was asked for.", "backend_error"
        )
    return dict(zip(wanted, texts, strict=True))


def _between(answer: str, wanted: Sequence[str]) -> list[str]:
    """What stands between the tags, which follow one another; nothing where they do not."""
    # Found from both ends: one expression for all would try each end of a part with each other.
    before, begins, rest = answer.partition(f"<{wanted[0]}>")
    inner, ends, after = rest.rpartition(f"</{wanted[-1]}>")
    if not (begins and ends) or re.search("[<>]", before + after):
        return []
    found = []
    for tag, following in pairwise(wanted):
        parted = re.split(rf"</{tag}>\s*<{following}>", inner, maxsplit=1)
        if len(parted) < 2:
            return []
        part, inner = parted
        found.append(part)
    return [*found, inner]


def _plain(text: str) -> str:
    text = make_visible(text).strip()
    fenced = _MARKDOWN_FENCE.fullmatch(text)
    return fenced[2].strip() if fenced else text
