"""The selectable agents and models, as last listed by the model."""

from collections.abc import Callable

from model.agents.catalog import BackendRow, Catalog, ModelRow
from model.api.doctor import AgentKind, AgentModel, list_agents, list_models
from model.client.base import Client
from model.domain.sessions import Session


class AgentCatalog:
    """A cached `Catalog`; empty until the first `refresh`. `changed` is called on any change."""

    def __init__(self, client: Client, changed: Callable[[], None]) -> None:
        self._client = client
        self._changed = changed
        self.catalog = Catalog()

    def labels(self, session: Session) -> tuple[str, str]:
        """The display names of the session's agent and model."""
        model = session.answering_model or session.model
        return self.catalog.label(session.backend), self.catalog.label(session.backend, model)

    async def refresh(self) -> None:
        """Read the catalog again."""
        before, self.catalog = self.catalog, _catalog(await self._client.call(list_agents))
        if self.catalog != before:
            self._changed()

    async def with_models(self, backend: str, project_id: str) -> Catalog:
        """The catalog with all models of one backend; may start its program to list them."""
        models = await self._client.call(list_models, backend=backend, project_id=project_id)
        await self.refresh()
        return self.catalog.with_models(backend, map(_model_row, models))


def _model_row(model: AgentModel) -> ModelRow:
    return ModelRow(
        model.name,
        model.passed,
        model.label,
        model.description,
        tuple(model.efforts),
        model.default_effort,
        model.answers_as,
        model.is_default,
        model.is_offered,
    )


def _catalog(agents: list[AgentKind]) -> Catalog:
    return Catalog(
        tuple(
            BackendRow(
                agent.name,
                agent.label,
                agent.program,
                tuple(_model_row(model) for model in agent.models),
            )
            for agent in agents
        )
    )
