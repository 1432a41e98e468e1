"""`apiserver kubeconfig`: for the admin, or for a new user who is let in for a while."""

import argparse
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from apimachinery.scalars.duration import parse_duration
from apimachinery.serialization.yaml import dump_yaml
from apiserver.auth.user_tokens import issue_token, signing_key
from apiserver.commands.serve import add_settings, flags_of
from apiserver.config import ServerConfig, ServerConfigError, load_config
from apiserver.process.certificates import KeyPair
from apiserver.process.data_folder import (
    ADMIN,
    DataDir,
    DataDirError,
    issue_client,
    read_admin_token,
    trusted_by_clients,
    write_private,
)
from apiserver.process.kubeconfig_file import (
    CLUSTER,
    InvalidKubeconfig,
    Kubeconfig,
    added,
    kubeconfig,
)

DESCRIPTION = """\
Write a kubeconfig. Without --user it is the admin's. With --user it holds a new certificate,
signed by the authority in the data folder, or with --token a bearer token, by which the server
knows the user and the groups. Neither can be taken back, so let it end soon.
"""
EPILOG = """\
examples:
  apiserver kubeconfig --user jane --group builders --expires 8h --output jane.kubeconfig
  apiserver kubeconfig --user bot --token --server https://api.example.io --output bot.kubeconfig
  apiserver kubeconfig --user jane --namespace shop --merge --output ~/.kube/config
"""
LIFETIME = "24h"
SETTINGS = ("data_dir", "bind", "insecure_http", "tls_cert_file", "tls_private_key_file")


def add_parser(commands: Any) -> None:
    """Add this command to the parser of `apiserver`."""
    parser = commands.add_parser(
        "kubeconfig",
        help="write a kubeconfig for the admin or for a new user",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--user", metavar="NAME", help="the user's name (default: the admin)")
    parser.add_argument(
        "--group", metavar="G", action="append", default=[], dest="user_groups",
        help="a group of the user; can be repeated; system:masters may do everything",
    )  # fmt: skip
    parser.add_argument(
        "--expires", metavar="DURATION", default="",
        help="how long the user is let in, such as 30m or 8h (default 24h)",
    )  # fmt: skip
    parser.add_argument(
        "--token", action="store_true",
        help="a token instead of a certificate, for proxies that end TLS and for plain HTTP",
    )  # fmt: skip
    parser.add_argument(
        "--namespace", metavar="NAME", default="", help="where commands go that name no namespace"
    )
    parser.add_argument(
        "--cluster", metavar="NAME", default=CLUSTER,
        help="what the server is called in the file (default apiserver)",
    )  # fmt: skip
    parser.add_argument(
        "--context", metavar="NAME", default="",
        help="what user and server together are called (default USER@CLUSTER)",
    )  # fmt: skip
    parser.add_argument(
        "--server", metavar="URL", default="",
        help="the address to write, such as https://api.example.io (default: from --bind)",
    )  # fmt: skip
    parser.add_argument(
        "--output", metavar="FILE", default="-", help="where to write (default: standard output)"
    )
    parser.add_argument(
        "--merge", action="store_true",
        help="keep what else is in the file, and make the new context its current one",
    )  # fmt: skip
    add_settings(parser, only=SETTINGS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    config = load_config(os.environ, flags_of(args))
    if args.merge and args.output == "-":
        raise ServerConfigError("--merge: needs the file to merge into, as --output")
    try:
        authority = trusted_by_clients(config)
    except OSError as error:
        raise DataDirError(
            f"{error.filename}: {error.strerror}; `apiserver serve` makes it on the first start"
        ) from error
    token, pair = _credentials(args, config)
    made = kubeconfig(
        args.server or config.server_url,
        args.user or ADMIN,
        ca=authority,
        token=token,
        client=pair,
        cluster=args.cluster,
        context=args.context,
        namespace=args.namespace,
    )
    _write(args.output, _merged(Path(args.output), made) if args.merge else dump_yaml(made))
    return 0


def _credentials(args: argparse.Namespace, config: ServerConfig) -> tuple[str, KeyPair | None]:
    """A token, or a certificate with its key."""
    secret = read_admin_token(DataDir(config.data_dir))
    if not args.user:
        of_users = {"--group": args.user_groups, "--token": args.token, "--expires": args.expires}
        for flag, given in of_users.items():
            if given:
                raise ServerConfigError(f"{flag}: has a meaning only with --user")
        return secret, None
    now, groups = datetime.now(UTC), tuple(args.user_groups)
    lifetime = _lifetime(args.expires or LIFETIME)
    if args.token:
        return issue_token(signing_key(secret), args.user, groups, expires=now + lifetime), None
    if config.insecure_http:
        raise ServerConfigError(
            "--user: a certificate needs TLS, which --insecure-http turns off; --token does not"
        )
    return "", issue_client(config, args.user, groups, now=now, lifetime=lifetime)


def _merged(path: Path, made: Kubeconfig) -> bytes:
    try:
        existing = path.read_bytes() if path.exists() else b""
        return added(existing, made)
    except OSError as error:
        raise ServerConfigError(f"--output {path}: {error.strerror}") from error
    except InvalidKubeconfig as error:
        raise ServerConfigError(f"--output {path}: cannot be merged into: {error}") from error


def _lifetime(text: str) -> timedelta:
    try:
        lifetime = parse_duration(text)
    except ValueError as error:
        raise ServerConfigError(f"--expires: {text!r}: must be a duration such as 24h") from error
    if lifetime <= timedelta():
        raise ServerConfigError(f"--expires: {text!r}: must be longer than nothing")
    return lifetime


def _write(output: str, data: bytes) -> None:
    if output == "-":
        sys.stdout.write(data.decode("utf-8"))
        return
    try:
        write_private(Path(output), data)
    except OSError as error:
        raise ServerConfigError(f"--output {output}: {error.strerror}") from error
