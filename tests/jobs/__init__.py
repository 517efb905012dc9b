"""The queue of jobs and its workers, tried with functions that `work` holds."""

JOBS = {
    **{
        name: f"tests.jobs.work.{name}"
        for name in ("add", "refuse", "crash", "be_cancelled", "lose_the_lease", "hang_at_first", "write_at_first")
    },
    "summarize": "tests.llm.work.summarize",
}
"""By name, as settings.JOBS."""
