"""The flowcontrol.apiserver.k8s.io group: which requests wait for which, when there are many."""

GROUP = "flowcontrol.apiserver.k8s.io"
