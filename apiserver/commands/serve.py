"""`apiserver serve`: first start, start, reload."""

import argparse
import errno
import os
import socket
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from apiserver.asgi import Server
from apiserver.auth.static_tokens import InvalidTokenFile, read_tokens
from apiserver.auth.token_keys import InvalidSigningKey
from apiserver.config import SETTINGS, ServerConfig, ServerConfigError, load_config
from apiserver.controlplane.standard_server import standard_groups
from apiserver.process.address import Address
from apiserver.process.data_folder import DataDir, DataDirError, prepare, token_keys
from apiserver.process.loading import GroupError, load_group
from apiserver.process.serving import Application, gunicorn_settings

DESCRIPTION = """\
Serve API groups, with everything a first start needs: an SQLite store, an authority, a
certificate, and a kubeconfig for kubectl. Every setting can also stand in the environment
(--data-dir is APISERVER_DATA_DIR) or in the file given with --config; a flag wins over the
environment, the environment over the file.

SIGHUP reads the configuration, the certificates and the code again, SIGTERM stops: requests
in flight are answered and watches end cleanly.
"""
EPILOG = """\
examples:
  apiserver serve gadgets:GADGETS
  apiserver serve gadgets:GADGETS --storage etcd://10.0.0.1:2379,10.0.0.2:2379 --workers 4
  APISERVER_BIND=0.0.0.0:6443 apiserver serve --config apiserver.yaml
"""


def add_parser(commands: Any) -> None:
    """Add this command to the parser of `apiserver`."""
    parser = commands.add_parser(
        "serve",
        help="serve API groups",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_settings(parser, positional="groups")
    parser.set_defaults(run=run)


def add_settings(
    parser: argparse.ArgumentParser, *, positional: str = "", only: Iterable[str] = ()
) -> None:
    """Give *parser* a flag for each setting (of *only*), and one for the file with settings."""
    wanted = frozenset(only) or {setting.name for setting in SETTINGS}
    parser.add_argument(
        "--config", metavar="FILE", default=argparse.SUPPRESS,
        help="a YAML or TOML file with settings by name, as in `workers: 4`",
    )  # fmt: skip
    for setting in SETTINGS:
        if setting.name not in wanted:
            continue
        options: dict[str, Any] = {"default": argparse.SUPPRESS, "help": setting.help}
        if setting.name == positional:
            parser.add_argument(setting.name, metavar=setting.metavar, nargs="*", help=setting.help)
        elif setting.is_switch:
            parser.add_argument(setting.flag, action=argparse.BooleanOptionalAction, **options)
        elif setting.is_list:
            parser.add_argument(setting.flag, metavar=setting.metavar, action="append", **options)
        else:
            parser.add_argument(setting.flag, metavar=setting.metavar, **options)


def flags_of(args: argparse.Namespace) -> dict[str, Any]:
    """The settings that were given as flags."""
    names = {"config", *(setting.name for setting in SETTINGS)}
    given = {name: value for name, value in vars(args).items() if name in names}
    if given.get("groups") == []:
        del given["groups"]
    return given


def run(args: argparse.Namespace) -> int:
    # The store is for nobody else, wherever the data folder is.
    os.umask(0o077)
    # As `python -m` does; a console script has its own folder there.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    start = _Start(flags_of(args))
    Application(
        start.settings,
        start.server,
        when_ready=start.announce,
        refusal=(ServerConfigError, DataDirError, GroupError, InvalidSigningKey, InvalidTokenFile),
    ).run()
    return 0


class _Start:
    """The configuration of this process, as read last."""

    def __init__(self, flags: dict[str, Any]) -> None:
        self._flags = flags
        self._port: int | None = None
        self._config = ServerConfig()
        self._folder = DataDir(Path())
        self._served: list[str] = []

    def settings(self) -> dict[str, Any]:
        config = load_config(os.environ, self._flags)
        served = describe_groups(config.groups)
        config = replace(config, bind=self._bind(config.bind))
        if config.token_auth_file is not None:
            read_tokens(config.token_auth_file)
        folder = prepare(config, now=datetime.now(UTC))
        token_keys(config)
        settings = gunicorn_settings(config, folder)
        self._config, self._folder, self._served = config, folder, served
        return settings

    def server(self) -> Server:
        return Server(lambda: self._config)

    def announce(self) -> None:
        path = os.path.relpath(self._folder.admin_kubeconfig)
        shown = path if not path.startswith("..") else str(self._folder.admin_kubeconfig.absolute())
        print(f"serving {', '.join(self._served)} on {self._config.server_url}")
        print(f"export KUBECONFIG={shown}", flush=True)

    def _bind(self, wanted: Address) -> Address:
        """The address with its port known, and known to be free."""
        # A master that is reloading or taking over (USR2) has its sockets already.
        if self._port is not None and wanted.port in (0, self._port):
            return replace(wanted, port=self._port)
        if "GUNICORN_FD" not in os.environ:
            wanted = replace(wanted, port=free_port(wanted))
        self._port = wanted.port
        return wanted


def free_port(address: Address) -> int:
    """The port of *address*, a free one for 0; raises ConfigError if it cannot be bound."""
    try:
        found = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, where = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
            port: int = probe.getsockname()[1]
            return port
    except OSError as error:
        raise ServerConfigError(f"--bind {address}: {_why_not(error)}") from error


def describe_groups(references: tuple[str, ...]) -> list[str]:
    """What will be served, in words; raises GroupError if a group cannot be loaded.

    The groups are imported in a process of their own: workers are forked from this one, and a
    module that it had imported could not be reloaded.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        try:
            return pool.submit(_describe, references).result()
        except BrokenProcessPool as error:
            raise GroupError(f"importing {', '.join(references)} ended the process") from error


def _describe(references: tuple[str, ...]) -> list[str]:
    groups = [load_group(reference) for reference in references]
    names = [group.name for group in groups]
    for name in names:
        if names.count(name) > 1:
            raise GroupError(f"group {name!r} is given twice")
    core, *others = (group for group in standard_groups() if group.name not in names)
    shown = [
        f"{group.name}/{version}" if group.name else f"{version} (core)"
        for group in (*groups, core)
        for version in group.versions
    ]
    return [*shown, f"{len(others)} more groups"]


def _why_not(error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return "the address is in use; is another server running? --bind takes another port"
        case errno.EADDRNOTAVAIL:
            return "this machine has no such address"
        case errno.EACCES:
            return "this user may not use the port; those below 1024 need a privilege"
        case _:
            return error.strerror or str(error)
