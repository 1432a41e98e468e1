"""Pod security: the levels of the Pod Security Standards, chosen by the labels of a namespace."""
