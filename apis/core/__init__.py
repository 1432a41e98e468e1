"""The core API group, v1.

v1 is its only version, so the v1 classes are the internal types, too. Each role of a file
(types, validation, strategy) is a package with one module per kind.
"""

GROUP = ""
