"""Events as newer reporters write them. They are the events of the core group, in other words."""

GROUP = "events.k8s.io"
