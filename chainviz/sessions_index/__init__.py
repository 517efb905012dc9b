"""The index of sessions: one row for each session of the sources that somebody chose, and what is summed over them.

Pages use these functions and the models; they stay as they are:

    services.find_agents()                     agents with sessions on this machine, from names alone
    services.choose_sources(member, agents)    the sources of a team become these agents; lists them and starts the reading
    services.add_agents(team, agents)          the same, beside those that were chosen before
    services.choose_folder(team, path, pattern)  a folder or database beside the agents; forget_folder(…)
    services.sources_of(team)                  what was chosen
    services.has_chosen(team)                  whether anything was
    services.scan(team)                        looks for changed sessions and reads them, unless a job does so already
    services.scan_if_due(team)                 the same, at most every few seconds: for pages that are open
    services.progress_of(team)                 how far the reading is, as `Progress`
    services.stop(team), services.go_on(team)  the Stop of the banner, and its Go on

    models.Session                             a row a session; `Session.objects.visible_to(member)`
    models.SessionDay                          tokens and cost by day and model: `session.days`
    models.SessionTool                         calls, errors and bytes by day and tool: `session.tools`
    models.SessionProblem                      rules of the own API that it breaks: `session.problem_rows`; place 0 is the first
    models.SessionError                        error texts of tools and APIs: `session.error_rows`
    models.SessionRepeat                       identical calls made again: `session.repeats`

In reading order: `models`, `listing` (which sessions there are), `reading` (one session into its rows), `job`, `services`.
"""
