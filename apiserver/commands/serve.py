"""`apiserver serve`: prepare the data folder, start the server and reload it on SIGHUP."""

import argparse
import errno
import os
import socket
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from apiserver.config import SETTINGS, ServerConfig, ServerConfigError, load_config
from apiserver.evolution.server_identity import identify_server
from apiserver.process.address import Address
from apiserver.process.checked_process import Assignment, Become, CheckedProcess
from apiserver.process.data_dir import DataDir
from apiserver.process.python_build import build_arguments, build_hint
from apiserver.process.serving import Application, gunicorn_settings
from apiserver.process.start_report import StartRefused

if TYPE_CHECKING:
    from apiserver.asgi import Server

DESCRIPTION = """\
Serve API groups. The first start creates everything it needs: an SQLite store, an authority, a
certificate, and a kubeconfig for kubectl. Every setting can also be given in the environment
(--data-dir is APISERVER_DATA_DIR) or in the file given with --config; flags take precedence over
the environment, and the environment over the file.

SIGHUP reloads the configuration, the certificates and the code; if they have a mistake, it is
logged and nothing changes. SIGTERM stops the server: requests in flight are completed and watches
end cleanly.
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
    """Add a flag for each setting (or those in *only*), and --config for a file with settings."""
    names = frozenset(only) or {setting.name for setting in SETTINGS}
    parser.add_argument(
        "--config", metavar="FILE", default=argparse.SUPPRESS,
        help="a YAML or TOML file with settings by name, as in `workers: 4`",
    )  # fmt: skip
    for setting in SETTINGS:
        if setting.name not in names:
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


def given_flags(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given as flags."""
    names = {"config", *(setting.name for setting in SETTINGS)}
    flags = {name: value for name, value in vars(args).items() if name in names}
    if flags.get("groups") == []:
        del flags["groups"]
    return flags


def run(args: argparse.Namespace) -> int:
    # Only the owner may read the store, wherever the data folder is.
    os.umask(0o077)
    # Before any process is forked: checks and workers belong to the server of this master.
    identify_server()
    search_current_folder()
    start = _Start(given_flags(args))
    Application(
        start.settings,
        start.server,
        when_ready=start.announce,
        invalid=(ServerConfigError, StartRefused),
        checked=start.take_checked,
    ).run()
    return 0


def search_current_folder() -> None:
    """Import modules from the current folder first, as `python -m` does."""
    # For a console script, the first entry is the folder of the script.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A configuration that has been checked; the master sends it to the process that did it."""

    config: ServerConfig
    folder: DataDir
    served: tuple[str, ...]


class _Start:
    """The configuration of this process, as last loaded."""

    def __init__(self, flags: dict[str, Any]) -> None:
        self._flags = flags
        self._port: int | None = None
        self._loaded = _Loaded(ServerConfig(), DataDir(Path()), ())
        self._checked: CheckedProcess | None = None

    def settings(self, serve_as: Become, is_stopping: Callable[[], bool]) -> dict[str, Any]:
        def become(assignment: Assignment, files: Sequence[int]) -> NoReturn:
            self._loaded = assignment.state
            serve_as(assignment, files)

        config = load_config(os.environ, self._flags)
        process = CheckedProcess.fork(become)
        try:
            report = process.check(config, reload=self._port is not None, is_stopping=is_stopping)
            config = replace(config, bind=self._bind(config.bind))
            process.prepare_files(config)
            folder = DataDir(config.data_dir)
            settings = gunicorn_settings(config, folder)
        except BaseException:
            process.close()
            raise
        self._checked = process
        self._loaded = _Loaded(config, folder, report.served)
        return settings

    def take_checked(self) -> tuple[CheckedProcess, _Loaded] | None:
        process, self._checked = self._checked, None
        return (process, self._loaded) if process is not None else None

    def server(self) -> "Server":
        # Imported late, in the process of a worker.
        from apiserver.asgi import Server

        return Server(lambda: self._loaded.config)

    def announce(self) -> None:
        config, folder = self._loaded.config, self._loaded.folder
        path = os.path.relpath(folder.admin_kubeconfig)
        kubeconfig = path if not path.startswith("..") else str(folder.admin_kubeconfig.absolute())
        print(f"serving {', '.join(self._loaded.served)} on {config.server_url}")
        print(f"export KUBECONFIG={kubeconfig}", flush=True)
        if hint := build_hint(build_arguments()):
            print(hint, file=sys.stderr, flush=True)

    def _bind(self, address: Address) -> Address:
        """Return the address with its port, after checking that the port is free."""
        # A master that reloads or takes over (USR2) already has its sockets.
        if self._port is not None and address.port in (0, self._port):
            return replace(address, port=self._port)
        if "GUNICORN_FD" not in os.environ:
            address = replace(address, port=free_port(address))
        self._port = address.port
        return address


def free_port(address: Address) -> int:
    """Return the port of *address*, or a free one if it is 0.

    Raises ServerConfigError if the address cannot be bound.
    """
    try:
        addresses = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, socket_address = addresses[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(socket_address)
            port: int = probe.getsockname()[1]
            return port
    except OSError as error:
        raise ServerConfigError(f"--bind {address}: {_bind_failure(error)}") from error


def _bind_failure(error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return (
                "the address is in use; if another server is running, use --bind for another port"
            )
        case errno.EADDRNOTAVAIL:
            return "the address does not belong to this machine"
        case errno.EACCES:
            return "permission denied; ports below 1024 require privileges"
        case _:
            return error.strerror or str(error)
