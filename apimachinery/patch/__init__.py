"""Patches: JSON patch, JSON merge patch and strategic merge patch.

Each format is a pair of pure functions over JSON values: *apply* a patch to a document, and
*create* the patch that turns one document into another. Inputs are never changed, but results may
share parts with them, so callers must not change either in place afterwards. Every client mistake
raises an `apimachinery.patch.patch_errors.PatchError`.
"""
