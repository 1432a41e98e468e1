"""Auth: everything that can say who one is, as one value; credentials are made of it."""

from dataclasses import dataclass, field

from client.auth.credentials import ClientIdentity, Credentials, Static, TokenFile, basic, bearer
from client.auth.exec_plugin import ExecConfig, ExecPlugin
from client.runtime.clock import Clock
from client.transport.tls import ClientCertificate


@dataclass(frozen=True, slots=True)
class Auth:
    """Everything that can say who one is."""

    token: str = field(default="", repr=False)
    token_file: str = ""
    username: str = ""
    password: str = field(default="", repr=False)
    certificate: ClientCertificate | None = None
    exec: ExecConfig | None = None

    def credentials(self, clock: Clock | None = None) -> Credentials:
        """Something to ask for each request; a plugin runs only if nothing else says who."""
        if self.token_file:
            return TokenFile(
                self.token_file, fallback=self.token, certificate=self.certificate, clock=clock
            )
        if self.token:
            return Static(ClientIdentity(bearer(self.token), self.certificate))
        if self.username or self.password:
            return Static(ClientIdentity(basic(self.username, self.password), self.certificate))
        if self.exec is not None:
            return ExecPlugin(self.exec, certificate=self.certificate, clock=clock)
        return Static(ClientIdentity((), self.certificate))
