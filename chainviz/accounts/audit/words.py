"""What the acts of the audit log are called on the page. One that is not listed shows the name of its address."""

from __future__ import annotations

ACTS = {
    "sealed": "Log begun",
    "local": "Local record",
    "accounts:sign_in": "Sign-in",
    "accounts:sign_out": "Sign-out",
    "accounts:join": "Joined",
    "accounts:account": "Password changed",
    "accounts:choose_team": "Team opened",
    "accounts:invite": "Invitation",
    "accounts:revoke": "Invitation revoked",
    "accounts:member": "Member changed",
    "accounts:audit_export": "Audit log exported",
    "chains:upload": "Upload",
    "chains:pick": "Chains chosen",
    "chains:keep": "File kept",
    "chains:forget": "File dismissed",
    "chains:original": "File downloaded",
    "chains:samples": "Samples added",
    "chains:secrets": "Library scanned",
    "chains:to_bin": "Put in the bin",
    "chains:from_bin": "Taken from the bin",
    "chains:delete": "Deleted for good",
    "chains:rename": "Renamed",
    "chains:restore": "Version restored",
    "chains:branch": "Branch made",
    "chains:export": "Export",
    "chains:audit_entry": "Record downloaded",
    "drafts:explore_export": "Draft exported",
    "drafts:state_document": "State exported",
    "drafts:edit": "Edit",
    "drafts:operation": "Operation",
    "drafts:repair": "Repair",
    "drafts:save": "Version saved",
    "drafts:branch": "Saved as a branch",
    "drafts:discard": "Draft discarded",
    "drafts:undo": "Step undone",
    "drafts:redo": "Step redone",
    "drafts:rebase": "Draft rebased",
    "drafts:restore": "Draft restored",
    "purge": "Purge",
    "purged": "Purge carried out",
    "createowner": "Owner made on the server",
    "changepassword": "Password set on the server",
}


def act_label(act: str) -> str:
    return ACTS.get(act) or act.rpartition(":")[2].replace("_", " ").capitalize()
