"""Controllers of the example group, which run in a program of their own."""
