"""What a decision by roles costs a request, with few bindings and with many."""

import asyncio
from time import perf_counter

from apimachinery.schema import GroupResource
from apis.gadgets.install import GADGETS
from apis.rbac import GROUP
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.authorization import Authorizer
from apiserver.auth.user import AUTHENTICATED, MASTERS, User
from apiserver.controlplane.local_client import local_client
from apiserver.controlplane.role_access import RoleAccess
from apiserver.controlplane.standard_server import standard_groups
from apiserver.http.request_info import RequestInfo, request_info
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apis.rbac.making import binding

ADMIN = User("admin", groups=(MASTERS, AUTHENTICATED))
ANN = User("user5", groups=("devs", "builders", AUTHENTICATED))
LAMP = "/apis/gadgets.example.io/v1/namespaces/{}/gadgets/lamp"


def run() -> None:
    asyncio.run(measure())


async def measure() -> None:
    access = RoleAccess()
    app = App(
        (GADGETS, *standard_groups(access)),
        lambda: open_sqlite("sqlite://:memory:"),
        authentication=Authentication([]),
        authorizer=access.authorizer,
    )
    await app.start()
    async with local_client(app) as client:
        await access.start(app.groups, client, [GADGETS])
    bindings = GroupResource(GROUP, "rolebindings")
    made = 0
    print("microseconds for a decision")
    for count in (10, 1000):
        while made < count:
            given = f"User user{made}", f"Group group{made}"
            subject = binding(f"b{made}", "ClusterRole edit", *given, namespace="default")
            await app.groups.create(bindings, subject)
            made += 1
        print(f"{count} bindings")
        await row("a master", access.authorizer, ADMIN, LAMP.format("default"))
        await row("allowed in a namespace", access.authorizer, ANN, LAMP.format("default"))
        await row("allowed path", access.authorizer, ANN, "/openapi/v3")
        await row("refused, with a look at the store", access.authorizer, ANN, LAMP.format("other"))
    await app.stop()


async def row(name: str, authorizer: Authorizer, user: User, url: str) -> None:
    asked = request_info("GET", url, {})
    decision = await authorizer.authorize(user, asked)
    best = min([await _timed(authorizer, user, asked) for _ in range(20)])
    print(f"  {name:<36}{'yes' if decision.allowed else 'no':<5}{best * 1e6:8.1f}")


async def _timed(authorizer: Authorizer, user: User, asked: RequestInfo, times: int = 300) -> float:
    begin = perf_counter()
    for _ in range(times):
        await authorizer.authorize(user, asked)
    return (perf_counter() - begin) / times
