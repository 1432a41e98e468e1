"""The `apiserver` command."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from apiserver.auth.static_tokens import InvalidTokenFile
from apiserver.commands import kubeconfig, serve, storage
from apiserver.config import ServerConfigError
from apiserver.process.certificates import CertificateError
from apiserver.process.data_folder import DataDirError
from apiserver.process.loading import GroupError
from apiserver.storage.interface import StorageError

MISTAKES = (
    *(ServerConfigError, DataDirError, GroupError),
    *(CertificateError, InvalidTokenFile, StorageError),
)
DESCRIPTION = "Serve versioned, declarative APIs that kubectl and every Kubernetes client can use."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; mistakes of whoever runs it are told without a traceback."""
    args = _parser().parse_args(arguments)
    try:
        code: int = args.run(args)
    except MISTAKES as error:
        for line in str(error).splitlines() or [type(error).__name__]:
            print(f"apiserver: {line}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="apiserver", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"apiserver {_version()}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (serve, kubeconfig, storage):
        command.add_parser(commands)
    return parser


def _version() -> str:
    try:
        return version("apimachinery")
    except PackageNotFoundError:
        return "of the source tree"


if __name__ == "__main__":
    sys.exit(main())
