"""Environment variables of containers, and the objects and fields they take values from."""

from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity


class ObjectFieldSelector(Model, map_type="atomic"):
    """Selects a field of the pod itself."""

    api_version: str = field(
        "", proto=1, doc="Version of the pod schema that `fieldPath` is written in; defaults to v1."
    )
    field_path: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc="Path of the field, such as `metadata.name` or `metadata.labels['app']`.",
    )


class ResourceFieldSelector(Model, map_type="atomic"):
    """Selects the request or limit of a container as a number."""

    container_name: str = field(
        "",
        proto=1,
        doc=(
            "Container whose resource is selected; optional in environment variables, required "
            "in volumes."
        ),
    )
    resource: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc="Resource to select, such as `limits.cpu` or `requests.memory`.",
    )
    divisor: Quantity = field(
        Quantity(0),
        proto=3,
        doc="Unit of the result: the amount is divided by it, and rounded up; defaults to 1.",
    )


class ConfigMapKeySelector(Model, map_type="atomic"):
    """Selects a key of a ConfigMap in the namespace of the pod."""

    name: str = field("", proto=(1, 1), published_default="", doc="Name of the ConfigMap.")
    key: str = field("", proto=2, omit_empty=False, doc="Key in the ConfigMap.")
    optional: bool | None = field(
        None, proto=3, doc="Whether the pod may start without the ConfigMap or the key."
    )


class SecretKeySelector(Model, map_type="atomic"):
    """Selects a key of a Secret in the namespace of the pod."""

    name: str = field("", proto=(1, 1), published_default="", doc="Name of the Secret.")
    key: str = field(
        "", proto=2, omit_empty=False, doc="Key in the Secret; it must be a valid secret key."
    )
    optional: bool | None = field(
        None, proto=3, doc="Whether the pod may start without the Secret or the key."
    )


class FileKeySelector(Model, map_type="atomic"):
    """Selects a variable in a file of variables that lies in a volume."""

    volume_name: str = field("", proto=1, omit_empty=False, doc="Name of the volume with the file.")
    path: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc="Path of the file within the volume: relative, and without `..`.",
    )
    key: str = field("", proto=3, omit_empty=False, doc="Name of the variable in the file.")
    optional: bool | None = field(
        None,
        proto=4,
        published_default=False,
        doc="Whether the pod may start without the file or the variable; defaults to false.",
    )


class EnvVarSource(Model):
    """Source of the value of an environment variable; exactly one field is set."""

    field_ref: ObjectFieldSelector | None = field(
        None, proto=1, doc="Takes the value from a field of the pod, such as `status.podIP`."
    )
    resource_field_ref: ResourceFieldSelector | None = field(
        None, proto=2, doc="Takes the value from a request or limit of a container."
    )
    config_map_key_ref: ConfigMapKeySelector | None = field(
        None, proto=3, doc="Takes the value from a key of a ConfigMap."
    )
    secret_key_ref: SecretKeySelector | None = field(
        None, proto=4, doc="Takes the value from a key of a Secret."
    )
    file_key_ref: FileKeySelector | None = field(
        None, proto=5, doc="Takes the value from a file of variables in a volume."
    )


class EnvVar(Model):
    """An environment variable of a container."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the variable.")
    value: str = field(
        "",
        proto=2,
        doc=(
            "Value of the variable; `$(NAME)` refers to variables defined before it, `$$(NAME)` "
            "stays `$(NAME)`."
        ),
    )
    value_from: EnvVarSource | None = field(
        None, proto=3, doc="Source of the value; only if `value` is empty."
    )


class ConfigMapEnvSource(Model):
    """Makes every key of a ConfigMap an environment variable."""

    name: str = field("", proto=(1, 1), published_default="", doc="Name of the ConfigMap.")
    optional: bool | None = field(
        None, proto=2, doc="Whether the pod may start without the ConfigMap."
    )


class SecretEnvSource(Model):
    """Makes every key of a Secret an environment variable."""

    name: str = field("", proto=(1, 1), published_default="", doc="Name of the Secret.")
    optional: bool | None = field(
        None, proto=2, doc="Whether the pod may start without the Secret."
    )


class EnvFromSource(Model):
    """A ConfigMap or Secret whose keys all become environment variables."""

    prefix: str = field(
        "", proto=1, doc="Text that is put in front of every key to form the name of the variable."
    )
    config_map_ref: ConfigMapEnvSource | None = field(None, proto=2, doc="ConfigMap to read.")
    secret_ref: SecretEnvSource | None = field(None, proto=3, doc="Secret to read.")
