"""Rewrite the golden files, on purpose: `python -m tests.golden`."""

from tests.golden import FOLDER, stored_bytes, stored_kinds

for name, cls in stored_kinds().items():
    path = FOLDER / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(stored_bytes(cls))
    print(path)
