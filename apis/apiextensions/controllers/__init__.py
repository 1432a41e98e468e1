"""Loops that run on definitions."""
