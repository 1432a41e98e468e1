"""Testing controllers and clients against the real server, in this process and without a cluster.

    async def test_config_map_is_made(env):
        async with env.manager(setup) as mgr:
            await env.client.of(Gadget).create({"metadata": {"name": "a"}, "spec": {"model": "m"}})
            await mgr.settled()
            assert await env.get(ConfigMap, "a-case")

`client.testing.plugin` gives pytest the fixtures; `client.testing.env.environment` is the same for
any other program. Nothing is imported here: a pytest that does not use this must not pay for it.
"""
