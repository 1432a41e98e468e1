"""Resources that are defined at run time: CustomResourceDefinitions."""

GROUP = "apiextensions.k8s.io"
