"""Controllers of the group policy."""
