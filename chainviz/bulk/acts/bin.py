"""The bin: chains go there and come back."""

from __future__ import annotations

from chainviz.accounts.permissions import Permission
from chainviz.bulk.acts.contract import Act, Finish, NoOptions, Outcome, Result, Work
from chainviz.bulk.models import BulkRow
from chainviz.chains import services
from chainviz.chains.models import Chain


class ToBin(Act):
    name, label, doing, done, icon = "bin", "Move to the bin", "Moving to the bin", "moved", "trash"
    permission: Permission = "bin"
    hint = "Chains stay in the bin, with all their versions, until you restore them or delete them permanently."
    first: tuple[str, ...] = ()
    Options = NoOptions

    def prepare(self, work: Work) -> Finish:
        def finish() -> Result:
            services.to_bin(Chain.objects.filter(pk=work.chain.pk))
            return Result(Outcome.CHANGED, "In the bin.", work.chain.version)

        return finish

    def undo(self, work: Work, made: BulkRow) -> Finish:
        def finish() -> Result:
            if not services.from_bin(Chain.objects.in_bin().filter(pk=work.chain.pk)):
                return Result(Outcome.UNCHANGED, "It was already restored.", work.chain.version)
            return Result(Outcome.CHANGED, "Back in the library.", work.chain.version)

        return finish
