"""The apiextensions.k8s.io group: CustomResourceDefinitions."""

GROUP = "apiextensions.k8s.io"
