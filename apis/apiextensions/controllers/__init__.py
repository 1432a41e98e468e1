"""Controllers of CustomResourceDefinitions."""
