"""AuthInfo: the ways to authenticate that a configuration may contain, as one value."""

from dataclasses import dataclass, field

from client.auth.credentials import (
    ClientIdentity,
    Credentials,
    StaticCredentials,
    TokenFileCredentials,
    basic_auth_header,
    bearer_header,
)
from client.auth.exec_plugin import ExecConfig, ExecPlugin
from client.runtime.clock import Clock
from client.transport.tls import ClientCertificate


@dataclass(frozen=True, slots=True)
class AuthInfo:
    """How a client authenticates: the `user` entry of a kubeconfig."""

    token: str = field(default="", repr=False)
    token_file: str = ""
    username: str = ""
    password: str = field(default="", repr=False)
    certificate: ClientCertificate | None = None
    exec: ExecConfig | None = None

    def credentials(self, clock: Clock | None = None) -> Credentials:
        """Return the credentials for requests.

        The first of token file, token, basic auth and exec plugin is used; a client certificate is
        used with any of them.
        """
        if self.token_file:
            return TokenFileCredentials(
                self.token_file, fallback=self.token, certificate=self.certificate, clock=clock
            )
        if self.token:
            return StaticCredentials(ClientIdentity(bearer_header(self.token), self.certificate))
        if self.username or self.password:
            return StaticCredentials(
                ClientIdentity(basic_auth_header(self.username, self.password), self.certificate)
            )
        if self.exec is not None:
            return ExecPlugin(self.exec, certificate=self.certificate, clock=clock)
        return StaticCredentials(ClientIdentity((), self.certificate))
