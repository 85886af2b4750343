"""Ask an agent once for a short text, in a conversation that belongs to no session.

The agent and the account are those of the prompt, else of the project, else the user's defaults:
the material is never sent through an account other than the one in the provider profile. The agent
gets no tools, and its program is stopped as soon as it has answered. Every failure is a
`SpinneyError`, and callers must be able to continue without the text.
"""

import asyncio
import logging
import re
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

from model.backends import agent_events, base
from model.backends.model_list_cache import ModelListCache
from model.base.errors import SpinneyError
from model.base.text import clean_line, make_visible
from model.domain.worktrees import Worktree
from model.preferences import profiles
from model.preferences.prompts import describe_place
from model.store.store import Store
from model.usage.accounts import make_account_id
from model.usage.meter import UsageMeter
from model.writing.prompt_agents import PromptAgent, PromptAgents
from model.writing.prompts import ROLE, WritingKey, build_prompt, write_task

TIMEOUT: Final = 60.0
"""Seconds that a short text may take, unless its writing says otherwise."""

_MAX_ANSWER: Final = 100_000
"""Characters of an answer; longer answers are rejected."""

# Programs insert a file into the prompt where they read `@path`. In a diff that could be any file
# on this machine that the branch's author names (2.1.329 reads it, with or without tools), so no
# word may begin with `@`.
_WORD_JOINER: Final = "\u2060"

_MARKDOWN_FENCE: Final = re.compile(r"(`{3,})(?:markdown|md)\n(.*)\n\1", re.DOTALL)

_log = logging.getLogger(__name__)


class InvalidAnswerError(SpinneyError):
    """An agent answered in another form than it was asked for."""


class Writer:
    """Selects the agent for each kind of text, and lets it write."""

    def __init__(
        self,
        store: Store,
        backends: Mapping[str, base.Backend],
        models: ModelListCache,
        agents: PromptAgents,
        meter: UsageMeter,
        environment_of: Callable[[Worktree], Mapping[str, str]],
    ) -> None:
        self._store = store
        self._backends = backends
        self._models = models
        self._agents = agents
        self._meter = meter
        self._environment_of = environment_of
        self._closing: set[asyncio.Task[None]] = set()

    async def is_available(self, key: WritingKey, worktree: Worktree) -> bool:
        """Whether the agent of this prompt is installed and, as far as is known, signed in.

        A provider profile counts as an account, or reports what is wrong with it.
        """
        agent = self._agent(key, worktree)
        backend = self._backends.get(agent.backend)
        probe = await backend.probe() if backend else base.Probe(program=None)
        has_account = probe.signed_in is not False or bool(agent.profile)
        return probe.program is not None and has_account

    async def write(
        self,
        key: WritingKey,
        worktree: Worktree,
        material: Mapping[str, str],
        tags: Sequence[str],
        timeout: float | None = None,
    ) -> dict[str, str]:
        """Let the prompt's agent write the parts of a text, such as `title` and `body`.

        Args:
            key: The prompt, with the agent and the model chosen for it in the preferences.
            worktree: The working directory of the agent's program.
            material: What to write about, by tag; empty texts are omitted.
            tags: The tags of the answer, in order.
            timeout: Seconds from starting the program to the end of its answer, by default
                `TIMEOUT`.

        Raises:
            InvalidAnswerError: The agent answered in another form.
            SpinneyError: It is missing, failed, took longer than `timeout`, or asked a question.
        """
        preferences = self._store.state.preferences
        project = self._store.state.projects.get(worktree.project_id)
        task = write_task(key, preferences, describe_place(project, worktree))
        text = build_prompt(task, material, tags, clean_line(preferences.ai_language))
        masked = text.replace("@", f"{_WORD_JOINER}@")
        answer = await self._ask(key, worktree, masked, timeout or TIMEOUT)
        return _parse_answer(answer.replace(_WORD_JOINER, ""), tags)

    async def close(self) -> None:
        """Wait until every agent program has ended."""
        await asyncio.gather(*self._closing, return_exceptions=True)

    async def _ask(self, key: WritingKey, worktree: Worktree, text: str, timeout: float) -> str:
        chosen = self._agent(key, worktree)
        name = chosen.backend
        backend = self._backends.get(name)
        if backend is None:
            raise SpinneyError(
                f"Spinney cannot run {self._models.catalog.label(name)} here.",
                "backend_unavailable",
            )
        launch = await self._launch(chosen, worktree)
        note = partial(
            self._meter.note_text,
            worktree,
            key,
            name,
            make_account_id(name, chosen.profile),
            started_at=time.time(),
        )
        opening = asyncio.create_task(backend.open(launch))
        try:
            async with asyncio.timeout(timeout):
                agent = await asyncio.shield(opening)
                await agent.send(base.Prompt(text))
                return await _read_answer(agent, launch.settings.model, note)
        except TimeoutError:
            label = self._models.catalog.label(name)
            raise SpinneyError(
                f"{label} took longer than {timeout:g} seconds.", "timeout"
            ) from None
        except SpinneyError:
            raise
        except Exception as error:
            _log.exception("an agent failed to write a text")
            raise SpinneyError("The agent failed. See Spinney's log for details.") from error
        finally:
            # Do not wait for the program to end, least of all for one that does not start.
            ending = asyncio.create_task(_close(opening))
            self._closing.add(ending)
            ending.add_done_callback(self._closing.discard)

    async def _launch(self, chosen: PromptAgent, worktree: Worktree) -> base.Launch:
        model, is_preset = self._models.resolve_model(chosen.backend, chosen.model, chosen.profile)
        return base.Launch(
            session_id=str(uuid.uuid4()),
            worktree=Path(worktree.path),
            settings=base.Settings("plan", model, model_is_preset=is_preset),
            system_prompt=ROLE,
            environment=self._environment_of(worktree),
            text_only=True,
            profile=await self._profile(chosen),
        )

    async def _profile(self, chosen: PromptAgent) -> Mapping[str, object]:
        """Return the settings of the chosen profile. Raises if the agent would not use it."""
        profile = profiles.find_profile(chosen.profile, self._store.state.preferences)
        found = await asyncio.to_thread(profiles.read_settings, profile) if profile else {}
        if not profiles.is_compatible(found, chosen.backend):
            label = self._models.catalog.label(chosen.backend)
            raise SpinneyError(
                f"The provider profile '{chosen.profile}' is not for {label}, which would write"
                " this with its own account. Choose another agent or provider profile for this"
                " prompt in the preferences.",
                "conflict",
            )
        return found

    def _agent(self, key: WritingKey, worktree: Worktree) -> PromptAgent:
        return self._agents.choose(key, self._store.state.projects.get(worktree.project_id))


async def _read_answer(agent: base.Agent, model: str, note: Callable[..., None]) -> str:
    """Return the text that the agent writes in its turn, and note what it used."""
    blocks: dict[str, str] = {}
    async for event in agent.events():
        match event:
            case agent_events.ModelReported():
                model = event.name
            case agent_events.TextDelta(kind="text"):
                blocks[event.block] = blocks.get(event.block, "") + event.text
            case agent_events.TextFinal(kind="text"):
                blocks[event.block] = event.text
            case agent_events.BlockDropped():
                blocks.pop(event.block, None)
            case (
                agent_events.PlanProposed()
                | agent_events.QuestionAsked()
                | agent_events.PermissionRequested()
            ):
                raise SpinneyError(
                    "The agent asked a question instead of writing.", "backend_error"
                )
            case agent_events.TurnFailed():
                note(model=model, usage=event.usage, cost_usd=event.cost_usd)
                raise SpinneyError(event.error, event.error_type)
            case agent_events.TurnFinished():
                note(model=model, usage=event.usage, cost_usd=event.cost_usd)
                return "\n".join(blocks.values())
        if sum(map(len, blocks.values())) > _MAX_ANSWER:
            raise SpinneyError("The agent's answer is too long.", "backend_error")
    raise SpinneyError("The agent's program exited before it answered.", "backend_error")


async def _close(opening: "asyncio.Task[base.Agent]") -> None:
    try:
        agent = await opening
        await agent.close()
    except SpinneyError as error:
        _log.info("an agent for writing a text failed: %s", error.message)
    except Exception:
        _log.exception("an agent for writing a text did not exit cleanly")


def _parse_answer(answer: str, tags: Sequence[str]) -> dict[str, str]:
    """Return the cleaned parts of an answer by tag. Text outside the tags is ignored."""
    texts = [_clean(text) for text in _split_by_tags(answer, tags)]
    if not all(texts) or not texts:
        raise InvalidAnswerError("The agent did not answer in the requested form.", "backend_error")
    return dict(zip(tags, texts, strict=True))


def _split_by_tags(answer: str, tags: Sequence[str]) -> list[str]:
    """Return the texts between the consecutive tags; empty if the form is not valid."""
    # Searched from both ends: one expression for all parts would need quadratic backtracking.
    before, begins, rest = answer.partition(f"<{tags[0]}>")
    inner, ends, after = rest.rpartition(f"</{tags[-1]}>")
    if not (begins and ends) or re.search("[<>]", before + after):
        return []
    found = []
    for tag, following in pairwise(tags):
        split = re.split(rf"</{tag}>\s*<{following}>", inner, maxsplit=1)
        if len(split) < 2:
            return []
        part, inner = split
        found.append(part)
    return [*found, inner]


def _clean(text: str) -> str:
    text = make_visible(text).strip()
    fenced = _MARKDOWN_FENCE.fullmatch(text)
    return fenced[2].strip() if fenced else text
