"""The index of sessions: one row for each session of the chosen sources, and sums over them.

Pages use only these functions and the models:

    services.find_agents()                     agents with sessions on this machine, from names alone
    services.choose_sources(member, agents)    the sources of a team become these agents; lists them and starts the reading
    services.add_agents(team, agents)          the same, in addition to earlier agents
    services.choose_folder(team, path, pattern)  adds a folder or a database as a source; forget_folder(…) removes it
    services.sources_of(team)                  the chosen sources
    services.has_chosen(team)                  whether there are any
    services.scan(team)                        reads changed sessions in a job, unless one is already running
    services.scan_if_due(team)                 the same, at most every few seconds, for open pages
    services.progress_of(team)                 the progress of the reading, as `Progress`
    services.stop(team), services.go_on(team)  the buttons Stop and Continue of the banner

    models.Session                             a row a session; `Session.objects.visible_to(member)`
    models.SessionDay                          tokens and cost by day and model: `session.days`
    models.SessionTool                         calls, errors and bytes by day and tool: `session.tools`
    models.SessionProblem                      rules of the own API that it breaks: `session.problem_rows`; place 0 is the first
    models.SessionError                        error texts of tools and APIs: `session.error_rows`
    models.SessionRepeat                       identical calls made again: `session.repeats`

In reading order: `models`, `listing` (which sessions there are, and one session into its rows), `services`.
"""
