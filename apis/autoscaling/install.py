"""The group autoscaling as a server installs it.

Scale, the other kind of autoscaling/v1, is served at the `scale` subresource of other kinds.
"""

from typing import Final

from apis.autoscaling import GROUP, v2
from apis.autoscaling.printers import AUTOSCALER_COLUMNS
from apis.autoscaling.register import add_to_scheme
from apis.autoscaling.strategy import HorizontalPodAutoscalerStrategy
from apiserver import STATUS, Group, Resource

AUTOSCALING: Final = Group(
    name=GROUP,
    versions=("v2", "v1"),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "horizontalpodautoscalers",
            v2.HorizontalPodAutoscaler,
            HorizontalPodAutoscalerStrategy(),
            short_names=("hpa",),
            categories=("all",),
            subresources=(STATUS,),
            columns=AUTOSCALER_COLUMNS,
        ),
    ),
)
