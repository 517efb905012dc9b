"""Summarises old messages instead of removing them: the operation of that name as a strategy (seed 3, Custom Compaction)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import ValidationError

from chainviz.core.errors import ChainError
from chainviz.core.operations.compact.compactors.contract import Change, Compactor, Settings, Titled, Trial, amount
from chainviz.core.state.compaction_request import CompactionFailed, CompactionRequest
from chainviz.core.value_errors import option_error


@dataclass(frozen=True, slots=True)
class Summarize(Compactor):
    """Its other members are the options of the operation, which the settings of the run hold."""

    type = "summarize"
    label = "Summarize"
    hint = "Folds old messages into summaries instead of removing them."

    options: Annotated[Mapping[str, Any], Titled("Options as JSON")] = field(default_factory=dict)

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._answer(True, "Folds what its options select.")

    def reduce(self, request: CompactionRequest, settings: Settings) -> Trial:
        operation = settings.operations.get(self.type)
        if operation is None or request.chain is None:
            return self._unchanged("Only sizes are known here, and a summary needs the messages.")
        try:
            options = operation.Options.model_validate(dict(self.options))
            outcome = operation.run(request.chain, options, settings.context)
        except ValidationError as error:
            raise CompactionFailed(f"summarize: {option_error(error.errors()[0])}") from None
        except ChainError as refused:
            raise CompactionFailed(f"summarize: {refused}") from None
        if not outcome.changes:
            return self._unchanged("Nothing is old or large enough to be folded.")
        folded = sum(splice.removed for splice in outcome.changes)
        return self._changed(
            Change(outcome.changes, warnings=outcome.warnings), f"Folded into summaries: {amount(folded, 'message')}."
        )
