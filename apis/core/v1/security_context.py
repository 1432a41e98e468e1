"""Security settings of pods and containers: users, capabilities, profiles."""

from apimachinery.model.model import Model, field


class Capabilities(Model):
    """Linux capabilities to add to and drop from a container's defaults."""

    add: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Capabilities to add, such as `NET_ADMIN`.",
    )
    drop: list[str] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Capabilities to drop; `ALL` drops every one.",
    )


class SELinuxOptions(Model):
    """SELinux labels of a container."""

    user: str = field("", proto=1, doc="SELinux user.")
    role: str = field("", proto=2, doc="SELinux role.")
    type: str = field("", proto=3, doc="SELinux type.")
    level: str = field("", proto=4, doc="SELinux level.")


class WindowsSecurityContextOptions(Model):
    """Security settings that only Windows has."""

    gmsa_credential_spec_name: str | None = field(
        None, proto=1, doc="Name of the GMSA credential spec to use."
    )
    gmsa_credential_spec: str | None = field(
        None,
        proto=2,
        doc="Content of the GMSA credential spec, which a webhook fills in from the name.",
    )
    run_as_user_name: str | None = field(
        None,
        proto=3,
        doc="Windows user that runs the processes; defaults to the user of the image.",
    )
    host_process: bool | None = field(
        None,
        proto=4,
        doc="Whether the container is a host process; the same for every container of a pod.",
    )


class SeccompProfile(Model):
    """The seccomp profile of a pod or container."""

    type: str = field(
        "",
        proto=1,
        omit_empty=False,
        known=("Localhost", "RuntimeDefault", "Unconfined"),
        publish_enum=True,
        doc=(
            "`Localhost` for a file of the node, `RuntimeDefault` for that of the runtime, "
            "`Unconfined` for none."
        ),
    )
    localhost_profile: str | None = field(
        None,
        proto=2,
        doc=(
            "Path of the profile on the node, below the kubelet's folder; only for type Localhost."
        ),
    )


class AppArmorProfile(Model):
    """The AppArmor profile of a pod or container."""

    type: str = field(
        "",
        proto=1,
        omit_empty=False,
        known=("Localhost", "RuntimeDefault", "Unconfined"),
        publish_enum=True,
        doc=(
            "`Localhost` for a profile loaded on the node, `RuntimeDefault` for that of the "
            "runtime, `Unconfined` for none."
        ),
    )
    localhost_profile: str | None = field(
        None, proto=2, doc="Name of the profile loaded on the node; only for type Localhost."
    )


class SecurityContext(Model):
    """Security settings of a container; they override those of the pod."""

    capabilities: Capabilities | None = field(
        None, proto=1, doc="Linux capabilities to add and drop."
    )
    privileged: bool | None = field(
        None,
        proto=2,
        doc=(
            "Whether processes in the container are practically root on the node; defaults to "
            "false."
        ),
    )
    se_linux_options: SELinuxOptions | None = field(
        None, proto=3, doc="SELinux labels of the container; the runtime chooses them if unset."
    )
    windows_options: WindowsSecurityContextOptions | None = field(
        None, proto=10, doc="Settings for Windows; not on Linux."
    )
    run_as_user: int | None = field(
        None, proto=4, doc="User ID of the first process; defaults to the user of the image."
    )
    run_as_group: int | None = field(
        None, proto=8, doc="Group ID of the first process; defaults to the choice of the runtime."
    )
    run_as_non_root: bool | None = field(
        None,
        proto=5,
        doc="Whether the kubelet refuses to start a container that would run as user 0.",
    )
    read_only_root_filesystem: bool | None = field(
        None, proto=6, doc="Whether the root file system cannot be written; defaults to false."
    )
    allow_privilege_escalation: bool | None = field(
        None,
        proto=7,
        doc="Whether a process can gain more privileges than its parent, as with setuid.",
    )
    proc_mount: str | None = field(
        None,
        proto=9,
        known=("Default", "Unmasked"),
        publish_enum=True,
        doc="How `/proc` is mounted; `Default` masks parts of it.",
    )
    seccomp_profile: SeccompProfile | None = field(
        None, proto=11, doc="The seccomp profile of the container."
    )
    app_armor_profile: AppArmorProfile | None = field(
        None, proto=12, doc="The AppArmor profile of the container."
    )


class Sysctl(Model):
    """A kernel parameter to set for the pod."""

    name: str = field(
        "", proto=1, omit_empty=False, doc="Name of the parameter, such as `net.core.somaxconn`."
    )
    value: str = field("", proto=2, omit_empty=False, doc="Value of the parameter.")


class PodSecurityContext(Model):
    """Security settings of all containers of a pod, and of its volumes."""

    se_linux_options: SELinuxOptions | None = field(
        None, proto=1, doc="SELinux labels of all containers; those of a container come first."
    )
    windows_options: WindowsSecurityContextOptions | None = field(
        None, proto=8, doc="Settings for Windows; those of a container come first."
    )
    run_as_user: int | None = field(
        None,
        proto=2,
        doc="User ID of the first process of every container; defaults to the user of the image.",
    )
    run_as_group: int | None = field(
        None, proto=6, doc="Group ID of the first process of every container."
    )
    run_as_non_root: bool | None = field(
        None,
        proto=3,
        doc="Whether the kubelet refuses to start containers that would run as user 0.",
    )
    supplemental_groups: list[int] = field(
        default_factory=list,
        proto=4,
        list_type="atomic",
        doc="Further group IDs of the first process of every container.",
    )
    supplemental_groups_policy: str | None = field(
        None,
        proto=12,
        known=("Merge", "Strict"),
        publish_enum=True,
        doc="Whether the groups of the image are added (`Merge`, the default) or not (`Strict`).",
    )
    fs_group: int | None = field(
        None,
        proto=5,
        doc=(
            "Group that owns the volumes which support ownership, and that every process "
            "belongs to."
        ),
    )
    sysctls: list[Sysctl] = field(
        default_factory=list,
        proto=7,
        list_type="atomic",
        doc=(
            "Kernel parameters of the pod; a node that does not allow them does not start the pod."
        ),
    )
    fs_group_change_policy: str | None = field(
        None,
        proto=9,
        known=("Always", "OnRootMismatch"),
        publish_enum=True,
        doc="When the ownership of a volume is changed to `fsGroup`; defaults to Always.",
    )
    seccomp_profile: SeccompProfile | None = field(
        None, proto=10, doc="The seccomp profile of all containers."
    )
    app_armor_profile: AppArmorProfile | None = field(
        None, proto=11, doc="The AppArmor profile of all containers."
    )
    se_linux_change_policy: str | None = field(
        None,
        proto=13,
        doc=(
            "How volumes get their SELinux label: `MountOption`, or `Recursive` for one file at "
            "a time."
        ),
    )
