"""The groups of Kubernetes with a recount that soon takes a silent writer for dead.

A test cannot wait as long as a server does.
"""

from apis.core.quota.recount import Recount
from apis.kubernetes import KUBERNETES

defaults = Recount.__init__.__kwdefaults__
assert defaults is not None
defaults["abandoned"] = 4.0

GROUPS = KUBERNETES
