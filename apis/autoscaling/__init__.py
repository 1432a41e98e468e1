"""Autoscaling: so far only Scale, the document of the scale subresource of other kinds.

Nothing is stored and nothing is installed; a server registers the kind for the sake of others.
"""

GROUP = "autoscaling"
