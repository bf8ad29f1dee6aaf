import assert from "node:assert/strict";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import { ConfigError } from "../../../../src/domain/errors.ts";
import type { ProvidersReport } from "../../../../src/domain/admin_reports.ts";
import { fakeAdmin } from "../_fake_admin.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

const KEY = { provider: "ollama", title: "Ollama", need: "optional", from: "", shown: "", fix: "" } as const;
const OLLAMA = {
  ...{ name: "ollama", title: "Ollama", protocol: "openai-chat", baseUrl: "", model: "qwen3:8b", root: true },
  key: KEY,
  reach: null,
};

async function welcomed(report: ProvidersReport) {
  const io = fakeIo({ args: [] });
  const providerAdmin = () => Promise.resolve(fakeAdmin({ providers: () => Promise.resolve(report) }));
  const code = await runCli(fakeServices({ providerAdmin }), io);
  return { code, out: io.out, err: io.err };
}

Deno.test("without a configuration, vis alone explains only how to begin", async () => {
  const problem = "No provider is configured. Log in:\n  vis auth login\nOr: vis demo";
  const { code, out, err } = await welcomed({ providers: [], problem, notes: [] });
  assert.deepEqual([code, out], [3, ""]);
  assert.equal(err, `vis: ${problem}\n\nvis help lists all commands\n`);
});

Deno.test("vis alone shows its commands if it can be used, and its provider, such as a server it found", async () => {
  const notes = ["no provider is configured: found Ollama at http://127.0.0.1:11434/v1"];
  const { code, out, err } = await welcomed({ providers: [OLLAMA], problem: "", notes });
  assert.equal(code, 0);
  assert.match(out, /^Usage: vis /);
  assert.equal(err, `vis · uses ollama qwen3:8b: vis run "…"\nvis · ${notes[0]}\n`);
});

Deno.test("vis alone names a fault of the configuration", async () => {
  const { err } = await welcomed({
    providers: [{ ...OLLAMA, root: false }],
    problem: "Cannot use x: no key",
    notes: [],
  });
  assert.equal(err, "vis · Cannot use x: no key\n");
  const io = fakeIo({ args: [] });
  const services = fakeServices({ providerAdmin: () => Promise.reject(new ConfigError("Cannot use c.jsonc: key")) });
  assert.deepEqual([await runCli(services, io), io.err], [3, "vis: Cannot use c.jsonc: key\n"]);
});
