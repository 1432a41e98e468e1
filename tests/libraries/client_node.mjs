// The JavaScript client: typed and custom objects, a watch, an informer.
import assert from "node:assert/strict";
import * as k8s from "@kubernetes/client-node";

const namespace = process.argv[2];
const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const gadgets = { group: "gadgets.example.io", version: "v1", namespace, plural: "gadgets" };

async function typedObjects() {
  const body = { metadata: { name: "a", labels: { x: "y" } }, data: { k: "v" } };
  const made = await core.createNamespacedConfigMap({ namespace, body });
  made.data.k = "w";
  await core.replaceNamespacedConfigMap({ name: "a", namespace, body: made });
  const read = await core.readNamespacedConfigMap({ name: "a", namespace });
  const list = await core.listNamespacedConfigMap({ namespace, labelSelector: "x=y" });
  const gone = await core.deleteNamespacedConfigMap({ name: "a", namespace });

  assert.equal(read.data.k, "w");
  assert.deepEqual(list.items.map((item) => item.metadata.name), ["a"]);
  assert.equal(gone.status, "Success");
  await assert.rejects(core.readNamespacedConfigMap({ name: "a", namespace }), { code: 404 });
}

async function customObjects() {
  const body = {
    apiVersion: "gadgets.example.io/v1",
    kind: "Gadget",
    metadata: { name: "lamp" },
    spec: { model: "a1" },
  };
  await custom.createNamespacedCustomObject({ ...gadgets, body });
  const read = await custom.getNamespacedCustomObject({ ...gadgets, name: "lamp" });

  assert.equal(read.spec.replicas, 1);
}

async function genericObjects() {
  const objects = k8s.KubernetesObjectApi.makeApiClient(config);
  const spec = {
    apiVersion: "gadgets.example.io/v1",
    kind: "Gadget",
    metadata: { name: "lamp", namespace },
    spec: { model: "a1", replicas: 3 },
  };
  const applied = await objects.patch(
    spec, undefined, undefined, "node", true, k8s.PatchStrategy.ServerSideApply,
  );

  assert.equal(applied.spec.replicas, 3);
}

async function watches() {
  const seen = [];
  const watch = new k8s.Watch(config);
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  await new Promise((resolve, reject) => {
    watch.watch(
      path,
      { timeoutSeconds: 20 },
      (type, object) => {
        seen.push([type, object.metadata.name]);
        if (type === "ADDED") core.deleteNamespacedSecret({ name: "w", namespace }).catch(reject);
        if (type === "DELETED") resolve();
      },
      (error) => reject(error ?? new Error("the watch ended early")),
    );
    core.createNamespacedSecret({ namespace, body: { metadata: { name: "w" } } }).catch(reject);
  });

  assert.deepEqual(seen, [["ADDED", "w"], ["DELETED", "w"]]);
}

for (const check of [typedObjects, customObjects, genericObjects, watches]) {
  await check();
  console.log(check.name);
}
process.exit(0);
