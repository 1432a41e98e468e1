"""The core group: what every other group leans on. Its kinds have one version, v1.

Since v1 is the only version, a v1 class is also what the server thinks with; no kind here has an
internal class of its own. Each role is a package with one module per kind.
"""

GROUP = ""
