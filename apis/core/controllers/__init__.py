"""Controllers of the core group."""
