"""Continue tokens, which are a client's text."""

import base64

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apiserver.storage.continue_tokens import (
    NEWEST,
    Continuation,
    InvalidToken,
    decode_token,
    encode_token,
)

PREFIX = "/registry/core/pods/"


def token(document: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(document)).rstrip(b"=").decode()


def test_the_form_is_that_of_kubernetes() -> None:
    made = encode_token(Continuation(PREFIX + "a2\0", 236), prefix=PREFIX)

    text = base64.urlsafe_b64decode(made + "=" * (-len(made) % 4))
    assert text == b'{"v":"meta.k8s.io/v1","rv":236,"start":"a2\\u0000"}'
    assert "=" not in made


SEGMENT = st.text("abcz019-.", min_size=1, max_size=8).filter(lambda text: text.strip("."))


@given(st.lists(SEGMENT, min_size=1, max_size=2), st.integers(1, 2**63 - 1) | st.just(NEWEST))
def test_what_was_encoded_is_decoded(segments: list[str], revision: int) -> None:
    made = Continuation(PREFIX + "/".join(segments) + "\0", revision)

    assert decode_token(encode_token(made, prefix=PREFIX), prefix=PREFIX) == made


def test_the_newest_state_is_no_state_of_its_own() -> None:
    assert Continuation("a", 5).consistent
    assert not Continuation("a", NEWEST).consistent


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%", "illegal base64 data at input byte 0"),
        ("abc=", "illegal base64 data at input byte 3"),
        ("abcde", "illegal base64 data at input byte 4"),
        (token([]), "expected an object, got list"),
        (token({"v": "v9"}), "server does not recognize this encoded version v9"),
        (token({}), "server does not recognize this encoded version "),
        (
            token({"v": "meta.k8s.io/v1", "start": "a"}),
            "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        ),
        (
            token({"v": "meta.k8s.io/v1", "rv": 5}),
            "encoded start key empty (version meta.k8s.io/v1)",
        ),
        (token({"v": "meta.k8s.io/v1", "rv": 5, "start": "../x"}), "../x"),
        (token({"v": "meta.k8s.io/v1", "rv": 5, "start": "a//b"}), "a//b"),
        (token({"v": "meta.k8s.io/v1", "rv": 5, "start": "//a"}), "//a"),
        (token({"v": "meta.k8s.io/v1", "rv": 5, "start": "a/"}), "a/"),
        (
            token({"v": "meta.k8s.io/v1", "rv": "5", "start": "a"}),
            "rv must be an integer of 64 bits",
        ),
        (
            token({"v": "meta.k8s.io/v1", "rv": True, "start": "a"}),
            "rv must be an integer of 64 bits",
        ),
        (
            token({"v": "meta.k8s.io/v1", "rv": 2**63, "start": "a"}),
            "rv must be an integer of 64 bits",
        ),
        (token({"v": "meta.k8s.io/v1", "rv": 5, "start": 7}), "start must be a string"),
    ],
)
def test_what_is_wrong_is_told(text: str, message: str) -> None:
    with pytest.raises(InvalidToken) as caught:
        decode_token(text, prefix=PREFIX)

    assert str(caught.value) == f"continue key is not valid: {message}"


def test_a_leading_slash_is_tolerated() -> None:
    text = token({"v": "meta.k8s.io/v1", "rv": 5, "start": "/a"})

    assert decode_token(text, prefix=PREFIX).start == PREFIX + "a"


DOCUMENT = st.fixed_dictionaries(
    {},
    optional={
        "v": st.just("meta.k8s.io/v1") | st.text(max_size=5) | st.none(),
        "rv": st.integers(-(2**63), 2**64 - 1) | st.text(max_size=3) | st.none(),
        "start": st.text(max_size=10) | st.integers(0, 9),
    },
)


@given(
    st.text(max_size=40)
    | DOCUMENT.map(token)
    | st.binary(max_size=40).map(lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode())
)
def test_no_text_leads_out_of_the_prefix_or_raises_anything_else(text: str) -> None:
    try:
        found = decode_token(text, prefix=PREFIX)
    except InvalidToken as error:
        assert str(error).startswith("continue key is not valid")
    else:
        assert found.start.startswith(PREFIX)
        assert "/../" not in found.start
        assert found.revision != 0
