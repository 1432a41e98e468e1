"""The certificate authority of webhooks: shared, replaced in steps, and restored."""

from base64 import b64decode
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from apimachinery.certificates import (
    AUTHORITY_LIFETIME,
    CertificateAuthority,
    CertificateError,
    parse_certificate,
)
from apis.core.v1 import Secret
from client.runtime.clock import SystemClock
from client.testing.env import Environment
from client.webhooks.webhook_authority import (
    PROPAGATION,
    RENEWAL,
    AuthorityState,
    WebhookAuthority,
    announce,
    first_state,
    from_data,
    promote,
    to_data,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATE = NOW + AUTHORITY_LIFETIME - RENEWAL + timedelta(days=1)


def certificates(state: AuthorityState) -> list[bytes]:
    end = b"-----END CERTIFICATE-----\n"
    return [part + end for part in state.bundle.split(end) if part]


def test_a_young_authority_stays() -> None:
    state = first_state(NOW)

    assert announce(state, NOW + timedelta(days=300)) == state
    assert promote(state, NOW + timedelta(days=300)) == state


def test_the_next_authority_is_trusted_before_it_signs() -> None:
    state = first_state(NOW)

    announced = announce(state, LATE)
    assert announced.next is not None
    assert announced.signing == state.signing
    assert certificates(announced) == [state.signing.certificate, announced.next.certificate]
    assert announce(announced, LATE) == announced
    assert promote(announced, LATE + PROPAGATION / 2) == announced

    promoted = promote(announced, LATE + PROPAGATION)
    assert promoted.signing == announced.next
    assert promoted.next is None
    assert certificates(promoted) == [announced.next.certificate, state.signing.certificate]


def test_an_authority_stays_trusted_until_everything_that_it_signed_has_expired() -> None:
    state = first_state(NOW)
    announced = announce(state, LATE)
    promoted = promote(announced, LATE + PROPAGATION)
    last = CertificateAuthority.load(state.signing).issue_serving(["a"], now=LATE + PROPAGATION)
    expires = parse_certificate(last.certificate).not_valid_after_utc

    while_used = announce(promoted, expires)
    assert state.signing.certificate in while_used.bundle
    afterwards = announce(promoted, NOW + AUTHORITY_LIFETIME + timedelta(days=1))
    assert certificates(afterwards) == [promoted.signing.certificate]


@pytest.mark.parametrize("announced", [False, True])
def test_the_data_of_the_secret_is_read_again(announced: bool) -> None:
    state = announce(first_state(NOW), LATE) if announced else first_state(NOW)

    assert from_data(to_data(state)) == state


@pytest.mark.parametrize(
    "change",
    [
        {"signing.key": ""},
        {"signing.key": "%"},
        {"signing.crt": "eA=="},
        {"next.crt": "eA=="},
        {"signing.key": to_data(first_state(NOW))["signing.key"]},
    ],
)
def test_a_secret_that_is_no_authority_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(CertificateError):
        from_data({**to_data(first_state(NOW)), **change})
    with pytest.raises(CertificateError):
        from_data({})


def authority(env: Environment) -> WebhookAuthority:
    return WebhookAuthority(env.client, SystemClock(), namespace="default", secret="certificates")


async def test_replicas_share_one_authority(env: Environment) -> None:
    first, second = authority(env), authority(env)

    assert await first.load() == await second.load()


async def test_a_deleted_secret_is_restored(env: Environment) -> None:
    replica = authority(env)
    state = await replica.load()
    await env.client.of(Secret, namespace="default").delete("certificates")

    assert await replica.load() == state
    assert await authority(env).load() == state


async def test_a_broken_secret_is_replaced_and_an_expired_authority_too(env: Environment) -> None:
    secrets = env.client.of(Secret, namespace="default")
    await secrets.create({"metadata": {"name": "certificates"}, "data": {"ca.crt": "eA=="}})
    state = await authority(env).load()
    assert certificates(state) == [state.signing.certificate]

    expired = first_state(datetime.now(UTC) - AUTHORITY_LIFETIME - timedelta(days=1))
    async with secrets.edit("certificates") as secret:
        secret.data = {name: b64decode(value) for name, value in to_data(expired).items()}
    replaced = await authority(env).load()
    assert replaced.signing != expired.signing
    assert certificates(replaced) == [replaced.signing.certificate]


async def test_of_two_replicas_that_replace_the_authority_one_wins(env: Environment) -> None:
    first, second = authority(env), authority(env)
    state = await first.load()
    other = replace(state, next=first_state(datetime.now(UTC)).signing)
    another = replace(state, next=first_state(datetime.now(UTC)).signing)

    assert await first.write(other, state) == other
    assert await second.write(another, state) == other
