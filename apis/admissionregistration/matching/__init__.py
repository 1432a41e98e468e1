"""Matching: which webhooks and policies a write concerns, and how they see its objects.

`rules` decide by operation and resource, `selectors` by labels, `match_conditions` by expressions;
`reviewed_write` has the write in the versions that the rules name.
"""
