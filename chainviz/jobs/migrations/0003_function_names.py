"""Jobs name their function by a name of settings.JOBS instead of its dotted path, which changes when the function moves.

Jobs of functions that no longer exist lose their arguments: those of masks and purges hold typed secrets, and what clears
them finds jobs by name.
"""

from django.db import migrations

NAMES = {
    "chainviz.chains.arrivals.take_in_job": "import-file",
    "chainviz.chains.file_scans.scan_file": "scan-file",
    "chainviz.chains.secret_scans.scan_content": "scan-chain",
    "chainviz.chains.secret_scans.scan_library": "scan-library",
    "chainviz.chains.secrets.files.scan_file": "scan-file",
    "chainviz.chains.secrets.scans.scan_content": "scan-chain",
    "chainviz.chains.secrets.scans.scan_for_own": "scan-own-patterns",
    "chainviz.chains.secrets.scans.scan_library": "scan-library",
    "chainviz.chains.uploads.arrivals.take_in_job": "import-file",
    "chainviz.drafts.masking_jobs.mask_content": "mask",
    "chainviz.drafts.operation_jobs.carry_out": "run-operation",
    "chainviz.drafts.operations.job.carry_out": "run-operation",
    "chainviz.drafts.operations.mask.job.mask_content": "mask",
    "chainviz.drafts.operations.redact.job.redact_content": "redact",
    "chainviz.drafts.operations.repair.reading_job.read_content": "propose-repairs",
    "chainviz.drafts.redacting_jobs.redact_content": "redact",
    "chainviz.drafts.repair_jobs.read_content": "propose-repairs",
    "chainviz.drafts.summaries.job.write_pieces": "write-summaries",
    "chainviz.drafts.summaries.writing.write_pieces": "write-summaries",
    "chainviz.purge.jobs.look": "count-before-purge",
    "chainviz.purge.jobs.purge": "purge",
    "chainviz.purge.work.look": "count-before-purge",
    "chainviz.purge.work.purge": "purge",
}


def name_functions(apps, schema_editor):
    jobs = apps.get_model("jobs", "Job").objects
    jobs.exclude(function__in=NAMES).update(args={})
    for path, name in NAMES.items():
        jobs.filter(function=path).update(function=name)


class Migration(migrations.Migration):
    dependencies = [("jobs", "0002_queue")]

    operations = [migrations.RunPython(name_functions, migrations.RunPython.noop)]
