"""Addresses of people and teams. Local mode has only that of API tokens, and answers 404 for the others."""

from __future__ import annotations

from django.urls import path

from chainviz.accounts.audit import listing as audit
from chainviz.accounts.views import sign_in, team
from chainviz.accounts.views import sign_in as account
from chainviz.accounts.views import sign_in as join
from chainviz.accounts.views import team as tokens

app_name = "accounts"

urlpatterns = [
    path("sign-in/", sign_in.sign_in, name="sign_in"),
    path("sign-in/oidc/", sign_in.oidc, name="oidc"),
    path("sign-in/oidc/callback/", sign_in.oidc_callback, name="oidc_callback"),
    path("sign-out/", sign_in.sign_out, name="sign_out"),
    path("join/<str:token>", join.join, name="join"),
    path("account/", account.account, name="account"),
    path("account/team/", account.choose_team, name="choose_team"),
    path("account/tokens/", tokens.own_tokens, name="tokens"),
    path("account/tokens/<int:token_id>/revoke/", tokens.revoke_token, name="revoke_token"),
    path("team/", team.team, name="team"),
    path("team/audit/", audit.audit, name="audit"),
    path("team/audit/audit.<slug:kind>", audit.audit_export, name="audit_export"),
    path("team/invitations/", team.invite, name="invite"),
    path("team/invitations/<int:invitation_id>/revoke/", team.revoke, name="revoke"),
    path("team/members/<int:member_id>/", team.change_member, name="member"),
]
