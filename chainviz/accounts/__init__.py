"""Users, teams, memberships and permissions. In local mode the one owner sends every request."""
