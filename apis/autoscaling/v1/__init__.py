from apis.autoscaling.v1.types import Scale, ScaleSpec, ScaleStatus

__all__ = ["Scale", "ScaleSpec", "ScaleStatus"]
