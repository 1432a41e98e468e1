"""Controllers of the example group: loops that run on gadgets, in a program of their own."""
