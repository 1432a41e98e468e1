"""Changing one JSON document by another: the patch formats a Kubernetes API accepts.

Every format is a pair of pure functions over JSON values: *apply* a patch to a document, and
*create* the patch that leads from one document to another. Inputs are never changed; a result may
share parts with them, so neither may be changed in place afterwards. Whatever a client can get
wrong is an `apimachinery.patch.patch_errors.PatchError`.
"""
