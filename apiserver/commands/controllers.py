"""`apiserver controllers`: run the controllers of workloads in a process of their own."""

import argparse
import asyncio
import logging
import os
import sys
from pathlib import Path
from typing import Any, Final

from apis.controllers import ALL, CONTROLLERS, add_controllers, scheme, select
from apiserver.commands.serve import add_settings, given_flags
from apiserver.config import ServerConfigError, load_config
from apiserver.process.data_dir import DataDir
from client.client import AsyncClient
from client.config import Config
from client.controller.manager import Manager
from client.errors import ConfigError
from client.leaderelection.leader_election import LeadershipLost
from client.monitoring.probes import InvalidProbeAddress, parse_address
from client.monitoring.prometheus import PrometheusMetrics

NAME: Final = "apiserver-workloads"
"""The name of the lease, of the events and of the field managers."""
NAMESPACE: Final = "kube-system"
KUBECONFIG: Final = "admin.kubeconfig"

DESCRIPTION = """\
Run the controllers of workloads: they make pods of deployments and replica sets. Without
--kubeconfig they connect to the server of the data folder, as its administrator, and else to the
cluster that kubectl would use.

Several may run at the same time: one is elected, with the Lease kube-system/apiserver-workloads,
and the others stand by. SIGTERM ends the controllers when they have finished what they do.
"""
EPILOG = f"""\
controllers:
  {", ".join(CONTROLLERS)}

examples:
  apiserver controllers
  apiserver controllers --controllers=*,-deployment
  apiserver controllers --kubeconfig ~/.kube/config --metrics-address 127.0.0.1:9090
"""


def add_parser(commands: Any) -> None:
    """Add this command to the parser of `apiserver`."""
    parser = commands.add_parser(
        "controllers",
        help="run the controllers of workloads",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--controllers", metavar="NAME,...", default=ALL,
        help="those to run: * for all, NAME for one, -NAME for all but one (default *)",
    )  # fmt: skip
    parser.add_argument(
        "--kubeconfig", metavar="FILE", default="",
        help="the server to connect to (default: that of the data folder)",
    )  # fmt: skip
    parser.add_argument(
        "--leader-elect", action=argparse.BooleanOptionalAction, default=True,
        help="stand by while another process runs them (default: yes)",
    )  # fmt: skip
    parser.add_argument(
        "--probes-address", metavar="HOST:PORT", default="",
        help="where to answer /healthz and /readyz (default: nowhere)",
    )  # fmt: skip
    parser.add_argument(
        "--metrics-address", metavar="HOST:PORT", default="",
        help="where to serve metrics (default: nowhere)",
    )  # fmt: skip
    add_settings(parser, only=("data_dir",))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the controllers until a signal ends them. Raises ServerConfigError for bad flags."""
    try:
        names = select(args.controllers.split(","))
    except ValueError as error:
        raise ServerConfigError(f"--controllers: {error}") from None
    if not names:
        raise ServerConfigError("--controllers: chooses none")
    for flag, address in (
        ("--probes-address", args.probes_address),
        ("--metrics-address", args.metrics_address),
    ):
        _check_address(flag, address)
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    try:
        asyncio.run(_run(_config(args), names, args))
    except LeadershipLost as error:
        print(f"apiserver: {error}", file=sys.stderr)
        return 1
    return 0


def _check_address(flag: str, address: str) -> None:
    if not address:
        return
    try:
        parse_address(address)
    except InvalidProbeAddress as error:
        raise ServerConfigError(f"{flag}: {error}") from None


async def _run(config: Config, names: list[str], args: argparse.Namespace) -> None:
    async with AsyncClient(config, scheme=scheme()) as client:
        manager = Manager(
            client,
            name=NAME,
            leader_election=args.leader_elect,
            lease_namespace=NAMESPACE,
            probes=args.probes_address,
            metrics_address=args.metrics_address,
            metrics=PrometheusMetrics() if args.metrics_address else None,
        )
        add_controllers(manager, names)
        logging.info("running the controllers %s against %s", ", ".join(names), config.server)
        await manager.start(signals=True)


def _config(args: argparse.Namespace) -> Config:
    """Return the configuration of the client: as told, of the data folder, or of kubectl."""
    folder = DataDir(load_config(os.environ, given_flags(args)).data_dir)
    own = Path(folder.path / KUBECONFIG)
    try:
        if args.kubeconfig or not own.exists():
            return Config.from_env(kubeconfig=args.kubeconfig)
        return Config.from_kubeconfig(own)
    except ConfigError as error:
        raise ServerConfigError(
            f"{error}; start a server with this --data-dir first, or name one by --kubeconfig"
        ) from error
