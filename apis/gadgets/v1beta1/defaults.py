"""Defaulting functions of gadgets.example.io/v1beta1."""

from apis.gadgets import v1beta1


def set_spec_defaults(spec: v1beta1.GadgetSpec) -> None:
    if not spec.model:
        spec.model = "standard"
