"""What an etcd URL may say."""

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apiserver.storage.backends import InvalidURL
from apiserver.storage.etcd.url import EtcdCredentials, EtcdSettings, Tls, parse_etcd_url


@pytest.mark.parametrize(
    ("url", "settings"),
    [
        ("etcd://localhost", EtcdSettings(("localhost:2379",))),
        ("etcd://localhost/", EtcdSettings(("localhost:2379",))),
        ("etcd://a:1,b:2,[::1]:3", EtcdSettings(("a:1", "b:2", "[::1]:3"))),
        ("etcd://[::1]", EtcdSettings(("[::1]:2379",))),
        ("etcd://a?prefix=/x%20y&timeout=0.5", EtcdSettings(("a:2379",), "/x y", timeout=0.5)),
        ("etcd://a?prefix=/x+y", EtcdSettings(("a:2379",), "/x+y")),
        (
            "etcd://u:p%40%3A%2F@a",
            EtcdSettings(("a:2379",), credentials=EtcdCredentials("u", "p@:/")),
        ),
        ("etcd://u:p@q@a", EtcdSettings(("a:2379",), credentials=EtcdCredentials("u", "p@q"))),
        ("etcd://u@a", EtcdSettings(("a:2379",), credentials=EtcdCredentials("u", ""))),
        ("etcd://a?ca=/ca", EtcdSettings(("a:2379",), tls=Tls(ca=Path("/ca")))),
        (
            "etcd://a?cert=/c&key=/k&server-name=etcd",
            EtcdSettings(("a:2379",), tls=Tls(None, Path("/c"), Path("/k"), "etcd")),
        ),
    ],
)
def test_a_url_says(url: str, settings: EtcdSettings) -> None:
    assert parse_etcd_url(url) == settings


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://a", "must begin with etcd://"),
        ("etcd://", "'' is not a host or host:port"),
        ("etcd://a,", "'' is not a host or host:port"),
        ("etcd://:1", "':1' is not a host or host:port"),
        ("etcd://a/b", "'a/b' is not a host or host:port"),
        ("etcd://[::1", "'[::1' is not a host or host:port"),
        ("etcd://[]:1", "'[]:1' is not a host or host:port"),
        ("etcd://a:0", "port '0' of 'a:0' is not between 1 and 65535"),
        ("etcd://a:65536", "port '65536' of 'a:65536' is not between 1 and 65535"),
        ("etcd://a:²", "port '²' of 'a:²' is not between 1 and 65535"),
        ("etcd://:p@a", "the user before '@' is empty"),
        (
            "etcd://a?prefx=/x",
            "unknown parameter 'prefx'; the known ones are "
            "prefix, ca, cert, key, server-name, timeout, max-value-bytes",
        ),
        ("etcd://a?prefix=/x&prefix=/y", "parameter 'prefix' is given twice"),
        ("etcd://a?prefix", "parameter 'prefix' has no value"),
        ("etcd://a?prefix=%ff", "parameter 'prefix' is not UTF-8 when percent-decoded"),
        ("etcd://a?cert=/c", "parameters 'cert' and 'key' must be given together"),
        ("etcd://a?timeout=0", "timeout '0' is not a number of seconds up to 3600"),
        ("etcd://a?timeout=nan", "timeout 'nan' is not a number of seconds up to 3600"),
        ("etcd://a?timeout=soon", "timeout 'soon' is not a number of seconds up to 3600"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(url: str, message: str) -> None:
    with pytest.raises(InvalidURL) as refused:
        parse_etcd_url(url)

    assert str(refused.value) == f"etcd URL: {message}"


@given(st.text())
def test_any_text_is_understood_or_refused(text: str) -> None:
    for url in (text, f"etcd://{text}", f"etcd://a?{text}", f"etcd://a?prefix={text}"):
        try:
            parse_etcd_url(url)
        except InvalidURL as refused:
            assert str(refused).startswith("etcd URL: ")


@given(st.text(min_size=1), st.text(), st.text(min_size=1))
def test_whatever_is_percent_encoded_comes_back(user: str, password: str, prefix: str) -> None:
    user_info = f"{quote(user, safe='')}:{quote(password, safe='')}"

    settings = parse_etcd_url(f"etcd://{user_info}@a?prefix={quote(prefix, safe='')}")

    assert settings.credentials == EtcdCredentials(user, password)
    assert settings.prefix == prefix


def test_a_password_is_shown_neither_by_settings_nor_by_errors() -> None:
    assert "secret" not in repr(parse_etcd_url("etcd://u:secret@a"))
    for rest in ("a:x", "a?x=1", "a?timeout=x", ""):
        with pytest.raises(InvalidURL) as refused:
            parse_etcd_url(f"etcd://u:secret@{rest}")
        assert "secret" not in str(refused.value)
