"""The shape of a kind like Pod, with fields of every patch strategy."""

from apimachinery.model.type_shape import ListShape, MapShape, Scalar, StructShape, Untyped

MERGE = frozenset({"merge"})
SCALAR = Scalar()
STRINGS = MapShape(SCALAR)


def keyed(items: StructShape, key: str, *more: str) -> ListShape:
    return ListShape(items, "map", (key,), patch_strategy=MERGE | set(more), patch_merge_key=key)


PORT = StructShape("ContainerPort", lambda: {"containerPort": SCALAR, "name": SCALAR})
ENV = StructShape("EnvVar", lambda: {"name": SCALAR, "value": SCALAR})
CONTAINER = StructShape(
    "Container",
    lambda: {
        "name": SCALAR,
        "image": SCALAR,
        "args": ListShape(SCALAR),
        "env": keyed(ENV, "name"),
        "ports": keyed(PORT, "containerPort"),
        "resources": StructShape("Resources", lambda: {"limits": STRINGS, "requests": STRINGS}),
    },
)
TOLERATION = StructShape("Toleration", lambda: {"key": SCALAR, "value": SCALAR})
VOLUME = StructShape(
    "Volume",
    lambda: {
        "name": SCALAR,
        "emptyDir": StructShape("EmptyDir", lambda: {"medium": SCALAR}),
        "hostPath": StructShape("HostPath", lambda: {"path": SCALAR}),
    },
)
STRATEGY = StructShape(
    "Strategy",
    lambda: {"type": SCALAR, "rollingUpdate": StructShape("Rolling", lambda: {"surge": SCALAR})},
    patch_strategy=frozenset({"retainKeys"}),
)
SPEC: StructShape = StructShape(
    "PodSpec",
    lambda: {
        "containers": keyed(CONTAINER, "name"),
        "volumes": keyed(VOLUME, "name", "retainKeys"),
        "tolerations": ListShape(TOLERATION),
        "nodeSelector": STRINGS,
        "selector": StructShape("Selector", lambda: {"matchLabels": STRINGS}, atomic=True),
        "strategy": STRATEGY,
        "replicas": SCALAR,
        "raw": Untyped(),
        "keyless": ListShape(ENV, patch_strategy=MERGE),
        "whole": MapShape(SCALAR, patch_strategy=frozenset({"replace"})),
        "byName": MapShape(CONTAINER),
        "pod": POD,
    },
)
POD: StructShape = StructShape(
    "Pod",
    lambda: {
        "metadata": StructShape(
            "ObjectMeta",
            lambda: {
                "name": SCALAR,
                "labels": STRINGS,
                "finalizers": ListShape(SCALAR, "set", patch_strategy=MERGE),
            },
        ),
        "spec": SPEC,
        "extra": StructShape("Extra", lambda: {"known": STRINGS}, preserves_unknown=True),
    },
)
