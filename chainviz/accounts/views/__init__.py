"""Pages of team mode: signing in, accepting an invitation, the own account, and the team."""
