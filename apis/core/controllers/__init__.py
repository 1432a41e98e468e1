"""Loops that run on the core group."""
