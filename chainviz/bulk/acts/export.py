"""Export: which versions go into one zip, and what a scan finds in each. The file itself is written while it is downloaded."""

from __future__ import annotations

from pydantic import Field

from chainviz.accounts.permissions import Permission
from chainviz.bulk.acts.contract import Act, Finish, Outcome, Result, Work
from chainviz.bulk.models import BulkRow
from chainviz.chains.exports.choices import Export
from chainviz.chains.exports.lock import locked_reason
from chainviz.chains.render.numbers import count_text
from chainviz.chains.secrets.findings import scan
from chainviz.core.errors import Refused
from chainviz.core.formats import WRITTEN
from chainviz.core.operations.contract import Options
from chainviz.drafts.target import target_of_version


class ExportOptions(Options):
    to: str = Field(
        "",
        title="Format",
        description="The report lists what a format cannot hold.",
        json_schema_extra={"choices": {"": "Each in its own format", **{each.name: each.label for each in WRITTEN}}},
    )


class ExportZip(Act):
    name, label, doing, done, icon = "export", "Export", "Preparing the export", "ready", "export"
    permission: Permission = "export"
    hint = "Every chain is scanned for secrets first, and the report shows what was found. Then you download one zip."
    first: tuple[str, ...] = ("to",)
    Options = ExportOptions

    def prepare(self, work: Work) -> Finish:
        assert isinstance(work.options, ExportOptions)
        number = work.chain.version
        reason = locked_reason(work.chain, number)
        if reason:
            raise Refused(reason)
        target = target_of_version(work.chain, number, work.member.user)
        export = Export.to(target.subject, work.options.to)
        values = {spot.mark for spot in scan(target.stored, work.progress)}
        losses = export.trial.losses
        found = f"{count_text(len(values), 'secret value')} found." if values else "No secrets found."
        text = " ".join((found, *losses))
        facts = {"secrets": len(values), "losses": len(losses)}
        return lambda: Result(Outcome.CHANGED, text, number, facts=facts)

    def undo(self, work: Work, made: BulkRow) -> Finish:
        raise Refused("An export changes nothing.")
