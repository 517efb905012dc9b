#!/usr/bin/env bash
# One run of `chainviz check` that annotates the lines, writes the SARIF report and adds the summary of the job.
set -euo pipefail
read -r -a paths <<< "$CHECK_PATH"
words=(--fail-on "$CHECK_FAIL_ON" --report github --report "sarif=$CHECK_SARIF" --report "summary=$GITHUB_STEP_SUMMARY")
if [ -n "$CHECK_PROVIDER" ]; then words+=(--provider "$CHECK_PROVIDER"); fi
exec chainviz check "${words[@]}" -- "${paths[@]}"
