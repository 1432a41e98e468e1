"""Validation of pods and pod templates, one theme per module.

`validate_pod` and its siblings are the rules of the strategy, one for each way to write a pod.
Kinds that create pods call `validate_pod_template_spec`.
"""

from apis.core.validation.pod.binding import validate_pod_binding as validate_pod_binding
from apis.core.validation.pod.ephemeral_containers_update import (
    validate_pod_ephemeral_containers_update as validate_pod_ephemeral_containers_update,
)
from apis.core.validation.pod.pod_creation import validate_pod as validate_pod
from apis.core.validation.pod.pod_creation import (
    validate_pod_template_spec as validate_pod_template_spec,
)
from apis.core.validation.pod.pod_resize import validate_pod_resize as validate_pod_resize
from apis.core.validation.pod.pod_status_update import (
    validate_pod_status_update as validate_pod_status_update,
)
from apis.core.validation.pod.pod_update import validate_pod_update as validate_pod_update
