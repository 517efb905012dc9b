"""The redact page: policy and selection, the table of decisions, the job for long chains."""
