"""`apiserver kubeconfig`: write a kubeconfig for the admin, or for a new user with an expiry."""

import argparse
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from apimachinery.certificates import KeyPair
from apimachinery.scalars.duration import parse_duration
from apimachinery.serialization.yaml_writer import dump_yaml
from apiserver.auth.user_tokens import issue_token, signing_key
from apiserver.commands.serve import add_settings, given_flags
from apiserver.config import ServerConfig, ServerConfigError, load_config
from apiserver.process.data_dir import DataDir, DataDirError
from apiserver.process.data_folder import (
    ADMIN,
    issue_client,
    read_admin_token,
    server_ca_bundle,
    write_private,
)
from apiserver.process.kubeconfig_file import (
    CLUSTER,
    InvalidKubeconfig,
    Kubeconfig,
    kubeconfig,
    merge_kubeconfig,
)

DESCRIPTION = """\
Write a kubeconfig. Without --user it is the admin's. With --user it contains a new certificate,
signed by the authority in the data folder, or with --token a bearer token, that identifies the
user and the groups. Neither can be revoked, so choose a short lifetime.
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
        help="how long the credentials are valid, such as 30m or 8h (default 24h)",
    )  # fmt: skip
    parser.add_argument(
        "--token", action="store_true",
        help="a token instead of a certificate, for proxies that terminate TLS and for plain HTTP",
    )  # fmt: skip
    parser.add_argument(
        "--namespace", metavar="NAME", default="", help="the default namespace of commands"
    )
    parser.add_argument(
        "--cluster", metavar="NAME", default=CLUSTER,
        help="the name of the cluster in the file (default apiserver)",
    )  # fmt: skip
    parser.add_argument(
        "--context", metavar="NAME", default="",
        help="the name of the context in the file (default USER@CLUSTER)",
    )  # fmt: skip
    parser.add_argument(
        "--server", metavar="URL", default="",
        help="the server URL, such as https://api.example.io (default: from --bind)",
    )  # fmt: skip
    parser.add_argument(
        "--output", metavar="FILE", default="-", help="the file to write (default: standard output)"
    )
    parser.add_argument(
        "--merge", action="store_true",
        help="keep the other entries of the file, and make the new context the current one",
    )  # fmt: skip
    add_settings(parser, only=SETTINGS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    config = load_config(os.environ, given_flags(args))
    if args.merge and args.output == "-":
        raise ServerConfigError("--merge: requires --output, the file to merge into")
    try:
        authority = server_ca_bundle(config)
    except OSError as error:
        raise DataDirError(
            f"{error.filename}: {error.strerror}; `apiserver serve` creates it on the first start"
        ) from error
    token, pair = _credentials(args, config)
    new = kubeconfig(
        args.server or config.server_url,
        args.user or ADMIN,
        ca=authority,
        token=token,
        client=pair,
        cluster=args.cluster,
        context=args.context,
        namespace=args.namespace,
    )
    _write(args.output, _merge(Path(args.output), new) if args.merge else dump_yaml(new))
    return 0


def _credentials(args: argparse.Namespace, config: ServerConfig) -> tuple[str, KeyPair | None]:
    """Return a token, or a certificate with its key."""
    secret = read_admin_token(DataDir(config.data_dir))
    if not args.user:
        user_flags = {"--group": args.user_groups, "--token": args.token, "--expires": args.expires}
        for flag, value in user_flags.items():
            if value:
                raise ServerConfigError(f"{flag}: only valid with --user")
        return secret, None
    now, groups = datetime.now(UTC), tuple(args.user_groups)
    lifetime = _lifetime(args.expires or LIFETIME)
    if args.token:
        return issue_token(signing_key(secret), args.user, groups, expires=now + lifetime), None
    if config.insecure_http:
        raise ServerConfigError(
            "--user: a certificate requires TLS, which --insecure-http disables; use --token"
        )
    return "", issue_client(config, args.user, groups, now=now, lifetime=lifetime)


def _merge(path: Path, new: Kubeconfig) -> bytes:
    try:
        existing = path.read_bytes() if path.exists() else b""
        return merge_kubeconfig(existing, new)
    except OSError as error:
        raise ServerConfigError(f"--output {path}: {error.strerror}") from error
    except InvalidKubeconfig as error:
        raise ServerConfigError(f"--output {path}: cannot merge into it: {error}") from error


def _lifetime(text: str) -> timedelta:
    try:
        lifetime = parse_duration(text)
    except ValueError as error:
        raise ServerConfigError(f"--expires: {text!r}: must be a duration such as 24h") from error
    if lifetime <= timedelta():
        raise ServerConfigError(f"--expires: {text!r}: must be positive")
    return lifetime


def _write(output: str, data: bytes) -> None:
    if output == "-":
        sys.stdout.write(data.decode("utf-8"))
        return
    try:
        write_private(Path(output), data)
    except OSError as error:
        raise ServerConfigError(f"--output {output}: {error.strerror}") from error
