"""Addresses of people and teams. Local mode has only that of API tokens, and answers 404 for the others."""

from __future__ import annotations

from django.urls import path

from chainviz.accounts import audit_listing as audit
from chainviz.accounts import views
from chainviz.accounts import views as account
from chainviz.accounts import views as join
from chainviz.accounts import views as tokens

app_name = "accounts"

urlpatterns = [
    path("sign-in/", views.sign_in, name="sign_in"),
    path("sign-in/oidc/", views.oidc, name="oidc"),
    path("sign-in/oidc/callback/", views.oidc_callback, name="oidc_callback"),
    path("sign-out/", views.sign_out, name="sign_out"),
    path("join/<str:token>", join.join, name="join"),
    path("account/", account.account, name="account"),
    path("account/team/", account.choose_team, name="choose_team"),
    path("account/tokens/", tokens.own_tokens, name="tokens"),
    path("account/tokens/<int:token_id>/revoke/", tokens.revoke_token, name="revoke_token"),
    path("team/", views.team, name="team"),
    path("team/audit/", audit.audit, name="audit"),
    path("team/audit/audit.<slug:kind>", audit.audit_export, name="audit_export"),
    path("team/invitations/", views.invite, name="invite"),
    path("team/invitations/<int:invitation_id>/revoke/", views.revoke, name="revoke"),
    path("team/members/<int:member_id>/", views.change_member, name="member"),
]
