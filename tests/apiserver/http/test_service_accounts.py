"""Service accounts over HTTP, on a whole server: a token, its use, and its end."""

import base64
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from apiserver import create_app
from apiserver.auth.token_keys import new_signing_key
from apiserver.config import DEFAULT_ISSUER, ServerConfig
from apiserver.process.data_folder import prepare, read_admin_token
from tests.apiserver.http.driver import Answer, Driver

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
SECRETS = "/api/v1/namespaces/default/secrets"
REVIEWS = "/apis/authentication.k8s.io/v1/{}"


@pytest.fixture
def config(tmp_path: Path) -> ServerConfig:
    return ServerConfig(data_dir=tmp_path / "data", storage="sqlite://:memory:")


@pytest.fixture
async def admin(config: ServerConfig) -> AsyncIterator[Driver]:
    folder = prepare(config, now=datetime.now(UTC))
    app = create_app(config)
    await app.start()
    yield Driver(app, authorization=f"Bearer {read_admin_token(folder)}")
    await app.stop()


async def account(admin: Driver, name: str = "builder") -> None:
    assert (await admin.send("POST", ACCOUNTS, json={"metadata": {"name": name}})).code == 201


async def token(admin: Driver, **spec: Any) -> str:
    answer = await admin.send("POST", f"{ACCOUNTS}/builder/token", json={"spec": spec})
    assert answer.code == 201, answer.body
    made: str = answer.json["status"]["token"]
    return made


async def whoami(admin: Driver, bearer: str) -> Answer:
    url = REVIEWS.format("selfsubjectreviews")
    return await Driver(admin.app, authorization=f"Bearer {bearer}").send("POST", url, json={})


async def review(admin: Driver, bearer: str, *audiences: str) -> dict[str, Any]:
    spec = {"token": bearer, "audiences": list(audiences)}
    answer = await admin.send("POST", REVIEWS.format("tokenreviews"), json={"spec": spec})
    assert answer.code == 201
    status: dict[str, Any] = answer.json["status"]
    return status


async def test_a_token_is_made_and_nothing_is_stored(admin: Driver) -> None:
    await account(admin)
    before = (await admin.send("GET", f"{ACCOUNTS}/builder")).json

    answer = await admin.send("POST", f"{ACCOUNTS}/builder/token", json={})

    assert answer.code == 201
    assert (answer.json["kind"], answer.json["apiVersion"]) == (
        "TokenRequest",
        "authentication.k8s.io/v1",
    )
    assert answer.json["spec"]["audiences"] == [DEFAULT_ISSUER]
    assert (await admin.send("GET", f"{ACCOUNTS}/builder")).json == before
    assert (await admin.send("GET", SECRETS)).json["items"] == []


async def test_the_bearer_is_the_account(admin: Driver) -> None:
    await account(admin)
    uid = (await admin.send("GET", f"{ACCOUNTS}/builder")).json["metadata"]["uid"]

    answer = await whoami(admin, await token(admin))

    user = answer.json["status"]["userInfo"]
    (credential,) = user.pop("extra")["authentication.kubernetes.io/credential-id"]
    assert credential.startswith("JTI=")
    assert user == {
        "username": "system:serviceaccount:default:builder",
        "uid": uid,
        "groups": [
            "system:serviceaccounts",
            "system:serviceaccounts:default",
            "system:authenticated",
        ],
    }


async def test_a_token_ends_with_its_account(admin: Driver) -> None:
    await account(admin)
    bearer = await token(admin)
    assert (await whoami(admin, bearer)).code == 201
    await admin.send("DELETE", f"{ACCOUNTS}/builder")
    await admin.send("GET", f"{ACCOUNTS}/builder")  # the cache has heard of it by then

    gone = await whoami(admin, bearer)
    await account(admin)
    again = await whoami(admin, bearer)

    assert (gone.code, gone.json["message"]) == (401, "Unauthorized")
    assert again.code == 401


async def test_a_token_ends_with_its_secret(admin: Driver) -> None:
    await account(admin)
    await admin.send("POST", SECRETS, json={"metadata": {"name": "vault"}})
    bound = {"kind": "Secret", "apiVersion": "v1", "name": "vault"}
    bearer = await token(admin, boundObjectRef=bound)
    assert (await whoami(admin, bearer)).code == 201
    await admin.send("DELETE", f"{SECRETS}/vault")
    await admin.send("GET", f"{SECRETS}/vault")

    assert (await whoami(admin, bearer)).code == 401


async def test_a_token_for_somebody_else_is_not_for_the_server(admin: Driver) -> None:
    await account(admin)
    bearer = await token(admin, audiences=["vault"])

    assert (await whoami(admin, bearer)).code == 401
    status = await review(admin, bearer, "vault", "other")
    assert status["authenticated"] is True
    assert status["audiences"] == ["vault"]
    assert status["user"]["username"] == "system:serviceaccount:default:builder"


async def test_a_review_for_the_wrong_audience_says_why(admin: Driver) -> None:
    await account(admin)
    bearer = await token(admin)

    assert await review(admin, bearer, "vault") == {
        "user": {},
        "error": f'token audiences ["{DEFAULT_ISSUER}"] is invalid for the target audiences'
        ' ["vault"]',
    }


@pytest.mark.parametrize("bad", ["x", "a.b.c"])
async def test_a_review_of_no_token_at_all(admin: Driver, bad: str) -> None:
    assert await review(admin, bad) == {"user": {}, "error": "invalid bearer token"}


async def test_no_token_without_an_account(admin: Driver) -> None:
    answer = await admin.send("POST", f"{ACCOUNTS}/nobody/token", json={})

    assert (answer.code, answer.json["message"]) == (404, 'serviceaccounts "nobody" not found')


async def test_no_token_in_a_namespace_that_is_going(admin: Driver) -> None:
    namespaces, inside = "/api/v1/namespaces", "/api/v1/namespaces/shop/serviceaccounts"
    await admin.send("POST", namespaces, json={"metadata": {"name": "shop"}})
    held = {"metadata": {"name": "builder", "finalizers": ["example.io/hold"]}}
    await admin.send("POST", inside, json=held)
    await admin.send("DELETE", f"{namespaces}/shop")

    answer = await admin.send("POST", f"{inside}/builder/token", json={})

    assert answer.code == 403
    assert (
        "unable to create new content in namespace shop because it is being terminated"
        in (answer.json["message"])
    )


async def test_a_bad_request_is_told_where(admin: Driver) -> None:
    await account(admin)
    url = f"{ACCOUNTS}/builder/token"

    short = await admin.send("POST", url, json={"spec": {"expirationSeconds": 5}})
    unknown = await admin.send("POST", f"{url}?fieldValidation=Strict", json={"spec": {"x": 1}})
    other = await admin.send("POST", url, json={"kind": "ServiceAccount", "apiVersion": "v1"})
    read = await admin.send("GET", url)

    assert (short.code, short.json["details"]["causes"][0]["field"]) == (
        422,
        "spec.expirationSeconds",
    )
    assert (unknown.code, 'unknown field "spec.x"' in unknown.json["message"]) == (400, True)
    assert other.code == 400
    assert read.code == 405


async def test_whoever_checks_tokens_finds_the_keys(admin: Driver, config: ServerConfig) -> None:
    """Every service account may look for them."""
    await account(admin)
    bearer = await token(admin)
    head = bearer.split(".")[0]
    kid = orjson.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))["kid"]
    builder = Driver(admin.app, authorization=f"Bearer {bearer}")

    discovery = await builder.send("GET", "/.well-known/openid-configuration")
    keys = await builder.send("GET", "/openid/v1/jwks")

    assert discovery.header("content-type") == "application/json"
    assert discovery.json == {
        "issuer": DEFAULT_ISSUER,
        "jwks_uri": f"{config.server_url}/openid/v1/jwks",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    }
    assert keys.header("content-type") == "application/jwk-set+json"
    assert keys.header("cache-control") == "public, max-age=3600"
    assert [key["kid"] for key in keys.json["keys"]] == [kid]


async def test_a_new_signing_key_leaves_old_tokens_alone(
    config: ServerConfig, tmp_path: Path
) -> None:
    """What an operator does on several machines: one key for all, and the former still known."""
    folder = prepare(config, now=datetime.now(UTC))
    path = tmp_path / "new.key"
    path.write_bytes(new_signing_key())
    rotated = replace(
        config,
        storage=f"sqlite:///{tmp_path}/store",
        service_account_signing_key_file=path,
        service_account_key_file=(folder.service_account_key,),
    )
    root = f"Bearer {read_admin_token(folder)}"
    first = create_app(replace(config, storage=rotated.storage))
    await first.start()
    await account(Driver(first, authorization=root))
    bearer = await token(Driver(first, authorization=root))
    await first.stop()

    second = create_app(rotated)
    await second.start()
    answer = await whoami(Driver(second, authorization=root), bearer)
    keys = await Driver(second, authorization=root).send("GET", "/openid/v1/jwks")
    await second.stop()

    assert answer.code == 201
    assert len(keys.json["keys"]) == 2


async def test_an_issuer_that_is_no_url_is_not_discoverable(config: ServerConfig) -> None:
    folder = prepare(config, now=datetime.now(UTC))
    app = create_app(replace(config, service_account_issuer=("me",)))
    await app.start()
    root = Driver(app, authorization=f"Bearer {read_admin_token(folder)}")

    answer = await root.send("GET", "/openid/v1/jwks")
    await app.stop()

    assert answer.code == 404
