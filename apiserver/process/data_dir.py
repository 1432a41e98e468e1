"""Data directory: the paths of the files that a server creates on its first start.

    ca.crt ca.key             the authority that signs the certificates below
    serving.crt serving.key   the serving certificate; renewed before it expires
    admin.token               the bearer token of the admin, who may do everything
    admin.kubeconfig          for kubectl: address, authority and token in one file
    sa.key                    the key that signs service account tokens

Apart from what creates and reads them (`data_folder`): the master needs their names only.
"""

from dataclasses import dataclass
from pathlib import Path


class DataDirError(Exception):
    """The folder or a file in it cannot be used; the message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class DataDir:
    """The paths of the files in a data folder."""

    path: Path

    @property
    def ca_certificate(self) -> Path:
        return self.path / "ca.crt"

    @property
    def ca_key(self) -> Path:
        return self.path / "ca.key"

    @property
    def serving_certificate(self) -> Path:
        return self.path / "serving.crt"

    @property
    def serving_key(self) -> Path:
        return self.path / "serving.key"

    @property
    def admin_token(self) -> Path:
        return self.path / "admin.token"

    @property
    def admin_kubeconfig(self) -> Path:
        return self.path / "admin.kubeconfig"

    @property
    def service_account_key(self) -> Path:
        return self.path / "sa.key"

    @property
    def client_authorities(self) -> Path:
        """The authorities whose client certificates are accepted."""
        return self.path / "client-ca.crt"
