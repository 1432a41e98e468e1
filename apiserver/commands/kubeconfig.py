"""`apiserver kubeconfig`: a kubeconfig for the admin, or for a new user with a certificate."""

import argparse
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from apimachinery.duration import parse_duration
from apiserver.commands.serve import add_settings, flags_of
from apiserver.config import ConfigError, load_config
from apiserver.datadir import (
    ADMIN,
    DataDir,
    DataDirError,
    issue_client,
    read_admin_token,
    trusted_by_clients,
    write_private,
)
from apiserver.kubeconfig import make_kubeconfig

DESCRIPTION = """\
Write a kubeconfig. Without --user it is the admin's. With --user it holds a new certificate,
signed by the authority in the data folder, by which the server knows the user and the groups;
a certificate cannot be taken back, so let it end soon.
"""
SETTINGS = ("data_dir", "bind", "insecure_http", "tls_cert_file", "tls_private_key_file")


def add_parser(commands: Any) -> None:
    """Add this command to the parser of `apiserver`."""
    parser = commands.add_parser(
        "kubeconfig",
        help="write a kubeconfig for the admin or for a new user",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--user", metavar="NAME", help="the user's name (default: the admin)")
    parser.add_argument(
        "--group", metavar="G", action="append", default=[], dest="user_groups",
        help="a group of the user; can be repeated; system:masters may do everything",
    )  # fmt: skip
    parser.add_argument(
        "--expires", metavar="DURATION", default="24h",
        help="how long the certificate is good, such as 30m or 24h (default 24h)",
    )  # fmt: skip
    parser.add_argument(
        "--server", metavar="URL", default="",
        help="the address to write, such as https://api.example.io (default: from --bind)",
    )  # fmt: skip
    parser.add_argument(
        "--output", metavar="FILE", default="-", help="where to write (default: standard output)"
    )
    add_settings(parser, only=SETTINGS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    config = load_config(os.environ, flags_of(args))
    server = args.server or config.server_url
    try:
        authority = trusted_by_clients(config)
    except OSError as error:
        raise DataDirError(
            f"{error.filename}: {error.strerror}; `apiserver serve` makes it on the first start"
        ) from error
    if args.user:
        if config.insecure_http:
            raise ConfigError("--user: a certificate needs TLS, which --insecure-http turns off")
        pair = issue_client(
            config,
            args.user,
            tuple(args.user_groups),
            now=datetime.now(UTC),
            lifetime=_lifetime(args.expires),
        )
        made = make_kubeconfig(server, args.user, ca=authority, client=pair)
    else:
        if args.user_groups:
            raise ConfigError("--group: has a meaning only with --user")
        token = read_admin_token(DataDir(config.data_dir))
        made = make_kubeconfig(server, ADMIN, ca=authority, token=token)
    _write(args.output, made)
    return 0


def _lifetime(text: str) -> timedelta:
    try:
        lifetime = parse_duration(text)
    except ValueError as error:
        raise ConfigError(f"--expires: {text!r}: must be a duration such as 24h") from error
    if lifetime <= timedelta():
        raise ConfigError(f"--expires: {text!r}: must be longer than nothing")
    return lifetime


def _write(output: str, data: bytes) -> None:
    if output == "-":
        sys.stdout.write(data.decode("utf-8"))
        return
    try:
        write_private(Path(output), data)
    except OSError as error:
        raise ConfigError(f"--output {output}: {error.strerror}") from error
