"""Addresses of chains: the library, uploads, versions, and the pages that show one chain."""

from __future__ import annotations

from django.urls import include, path

from chainviz.chains import audit as audit
from chainviz.chains import palette, welcome
from chainviz.chains.diff import runs
from chainviz.chains.diff import versions_page as diff
from chainviz.chains.explorer import views as explorer
from chainviz.chains.explorer.urls import explorer_urls
from chainviz.chains.folders import folder_pages as folders
from chainviz.chains.folders import opening as follow
from chainviz.chains.library import library_page as library
from chainviz.chains.library import reading, refresh, saved_filters
from chainviz.chains.overview import overview_page as overview
from chainviz.chains.parse import parse_pages as parse
from chainviz.chains.secrets import scans as secrets
from chainviz.chains.shares import share_links as shares
from chainviz.chains.uploads import pick
from chainviz.chains.uploads import upload_view as upload
from chainviz.chains.versions import versions_page as versions
from chainviz.chains.working_copies import opening as copies

app_name = "chains"

urlpatterns = [
    path("", library.library, name="library"),
    path("welcome/", welcome.welcome, name="welcome"),
    path("palette/", palette.palette, name="palette"),
    path("overview/", overview.overview, name="overview"),
    path("secrets/", secrets.library_secrets, name="secrets"),
    path("parse/", parse.parse_text, name="parse"),
    path("refresh/", refresh.refresh, name="refresh_library"),
    path("reading/", reading.reading, name="reading"),
    path("keep/", copies.keep_chosen, name="keep"),
    path("refresh/new/", refresh.new_rows, name="new_rows"),
    path("columns/", library.columns, name="columns"),
    path("filters/", saved_filters.save, name="save_filter"),
    path("filters/fields/", library.filter_fields, name="filter_fields"),
    path("filters/counts/", saved_filters.filter_counts, name="filter_counts"),
    path("filters/<int:filter_id>/", saved_filters.saved_filter, name="saved_filter"),
    path("samples/", library.samples, name="samples"),
    path("tour/", library.tour, name="tour"),
    path("upload/", upload.upload, name="upload"),
    path("upload/tray/", upload.tray, name="tray"),
    path("upload/retry/", upload.retry_failed, name="retry_failed"),
    path("upload/dismiss/", upload.dismiss_all, name="dismiss_all"),
    path("upload/<int:arrival_id>/undo/", upload.undo_added, name="undo_added"),
    path("upload/<int:arrival_id>/", upload.arrival, name="arrival"),
    path("upload/<int:arrival_id>/original", upload.original, name="original"),
    path("upload/<int:arrival_id>/forget/", upload.forget, name="forget"),
    path("upload/<int:arrival_id>/keep/", upload.keep, name="keep"),
    path("folders/", folders.folder_page, name="folders"),
    path("folders/add/", folders.add, name="add_folder"),
    path("folders/remove/", folders.remove, name="remove_folder"),
    path("folders/open/", folders.open_one, name="open_file"),
    path("folders/refresh/", folders.refresh, name="refresh_folder"),
    path("c/<int:chain_id>/follow/", follow.follow, name="follow"),
    path("pick/<int:arrival_id>/", pick.pick, name="pick"),
    path("bin/", library.bin, name="bin"),
    path("bin/add/", library.to_bin, name="to_bin"),
    path("bin/restore/", library.from_bin, name="from_bin"),
    path("bin/<int:chain_id>/delete/", library.delete, name="delete"),
    path("c/<int:chain_id>/", explorer.newest, name="chain"),
    path("c/<int:chain_id>/v/<int:number>/", include(explorer_urls(explorer.version_subject))),
    path("c/<int:chain_id>/diff/<int:before>..<int:after>/", diff.diff, name="diff"),
    path("compare/", runs.compare_chosen, name="compare_chosen"),
    path("compare/<str:one>/<str:other>/", runs.compare_two, name="compare_two"),
    path("c/<int:chain_id>/versions/", versions.versions, name="versions"),
    path("c/<int:chain_id>/versions/compare/", versions.compare, name="compare"),
    path("c/<int:chain_id>/versions/<int:number>/report/", versions.report, name="report"),
    path("c/<int:chain_id>/versions/<int:number>/restore/", versions.restore, name="restore"),
    path("c/<int:chain_id>/versions/<int:number>/branch/", versions.branch, name="branch"),
    path("c/<int:chain_id>/audit/", audit.audit, name="audit"),
    path("c/<int:chain_id>/audit/<int:entry_id>/", audit.entry, name="audit_entry"),
    path("c/<int:chain_id>/audit/<int:entry_id>/decisions", audit.decisions, name="audit_decisions"),
    path("team/shares/", shares.shares, name="shares"),
    path("c/<int:chain_id>/share/", shares.share, name="share"),
    path("c/<int:chain_id>/share/<int:link_id>/revoke/", shares.revoke, name="revoke_share"),
    path("s/<str:token>/", shares.shared, name="shared"),
    path("sessions/<int:session_id>/", copies.session, name="session"),
    path("sessions/<int:session_id>/open/", copies.open_view, name="open_session"),
    path("c/<int:chain_id>/rename/", versions.rename, name="rename"),
]
