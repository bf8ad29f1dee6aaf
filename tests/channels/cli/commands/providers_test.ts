import assert from "node:assert/strict";
import { providersCommand } from "../../../../src/channels/cli/commands/auth.ts";
import type { KeyReport, ProviderReport, ProvidersReport } from "../../../../src/domain/admin_reports.ts";
import { fakeAdmin } from "../_fake_admin.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

const KEY: KeyReport = {
  provider: "zai",
  title: "Z.ai",
  need: "required",
  from: "ZAI_API_KEY",
  shown: "••••4711",
  fix: "",
};
const ZAI: ProviderReport = {
  name: "zai",
  title: "Z.ai",
  protocol: "openai-chat",
  baseUrl: "https://api.z.ai/api/paas/v4",
  model: "glm-5.2",
  root: true,
  key: KEY,
  reach: null,
};

async function run(
  report: Partial<ProvidersReport>,
  flags: { check?: boolean; output?: "text" | "json" } = {},
  terminal: { stdoutColor?: boolean } = {},
) {
  const io = fakeIo(terminal);
  const asked: boolean[] = [];
  const services = fakeServices({
    providerAdmin: () =>
      Promise.resolve(fakeAdmin({
        providers: ({ check }) => {
          asked.push(check);
          return Promise.resolve({ providers: [], problem: "", notes: [], ...report });
        },
      })),
  });
  const code = await providersCommand({ services, io, flags: { check: false, output: "text", ...flags } });
  return { code, out: io.out, err: io.err, asked };
}

Deno.test("providersCommand() shows each provider with its key, masked, and its model", async () => {
  const missing = { ...KEY, from: "", shown: "", fix: "set X or run vis auth login x" };
  const local = { ...missing, need: "optional" as const, fix: "" };
  const { code, out, err, asked } = await run({
    providers: [ZAI, { ...ZAI, name: "x", root: false, model: null, key: missing }, {
      ...ZAI,
      root: false,
      key: local,
    }],
    notes: ["a note"],
  });
  assert.equal(code, 0);
  assert.match(
    out,
    /^\* zai\n {4}openai-chat · https:\/\/api\.z\.ai\S+\n {4}key: ••••4711 from ZAI_API_KEY\n {4}model: glm-5\.2\n/,
  );
  assert.match(
    out,
    /\n {2}x\n.*\n {4}key: missing \(set X or run vis auth login x\)\n {4}model: none set \(Vis looks in the list of the service for a usable model; --model names one\)\n/,
  );
  assert.match(out, /\n {4}key: not needed\n/);
  assert.equal(err, "vis: a note\n");
  assert.deepEqual(asked, [false]);
});

Deno.test("providersCommand() exits with 1 where a provider does not answer, and cleans its words", async () => {
  const good = { ...ZAI, reach: { ok: true, found: "3 models" } };
  const bad = { ...ZAI, reach: { ok: false, found: "\x1b[31mno" } };
  assert.match((await run({ providers: [good] }, { check: true })).out, /responds: 3 models\n$/);
  const { code, out, asked } = await run({ providers: [good, bad] }, { check: true });
  assert.deepEqual([code, asked], [1, [true]]);
  assert.match(out, /check failed: \\u001b\[31mno\n$/);
});

Deno.test("providersCommand() prints the report as JSON, and why nothing could be served", async () => {
  const { out } = await run({ providers: [ZAI], problem: "p" }, { output: "json" });
  assert.deepEqual(JSON.parse(out), { providers: [ZAI], problem: "p", notes: [] });
  const { err, code } = await run({ problem: "No provider is configured" });
  assert.deepEqual([err, code], ["vis: No provider is configured\n", 3]);
});

Deno.test("providersCommand() has colours on a terminal, and escapes control characters of a provider", async () => {
  const provider = { ...ZAI, baseUrl: "https://api.z.ai/\u001b[31m" };
  const { out } = await run({ providers: [provider] }, {}, { stdoutColor: true });
  assert.ok(out.startsWith("\u001b[32m*\u001b[39m \u001b[1mzai"));
  assert.match(out, /https:\/\/api\.z\.ai\/\\u001b\[31m/);
});
