import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../extensions/fs/mod.ts";
import type { ModelRequest, Provider } from "../../src/providers/provider.ts";
import { type Engine, startEngine } from "../helpers/engine.ts";
import { evalReply } from "../helpers/evaluation/eval_reply.ts";
import { scriptedProvider } from "../helpers/scripted_provider.ts";

async function withPolicies(
  files: Readonly<Record<string, string>>,
  body: (rig: { readonly engine: Engine; readonly bytes: number[] }) => Promise<void>,
): Promise<void> {
  const workspace = await Deno.realPath(await Deno.makeTempDir());
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(join(workspace, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(workspace, path), text);
  }
  const bytes: number[] = [];
  const played = scriptedProvider([], { otherwise: ({ texts }) => evalReply(texts) });
  const provider: Provider = {
    name: played.name,
    defaultModel: played.defaultModel,
    models: (options) => played.models(options),
    capabilities: (model) => played.capabilities(model),
    stream: (request: ModelRequest) => {
      const texts = request.messages.map(({ text }) => text).join("");
      bytes.push(new TextEncoder().encode(texts).byteLength);
      return played.stream(request);
    },
  };
  const engine = await startEngine([], { provider, workspace, extensions: [fs] });
  try {
    await body({ engine, bytes });
  } finally {
    await engine.close();
    await Deno.remove(workspace, { recursive: true });
  }
}

Deno.test("the policies of the evaluation: reads a file per iteration in requests that do not grow", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`files/${at + 1}.txt`, `${at + 100}\n`.repeat(1024)]),
  );
  await withPolicies(files, async ({ engine, bytes }) => {
    const result = await engine.ask("Read 20 files named files/#.txt, one per iteration.");
    assert.equal(result.answer, "Read 20 files with 81920 characters.");
    assert.equal(result.iterations, 21);
    const [third = 0, last = 0] = [bytes[2], bytes[19]];
    assert.ok(last <= third * 1.15, `${last} bytes after ${third}`);
    const at = bytes.length;
    const once = await engine.ask("Read 20 files named files/#.txt, all in one block.");
    assert.equal(once.answer, "Read 20 files with 81920 characters.");
    assert.equal(bytes.length - at, 2);
  });
});

Deno.test("the policies of the evaluation: grows a list over many iterations", async () => {
  await withPolicies({}, async ({ engine }) => {
    const result = await engine.ask(
      "Make 12 texts of 4096 bytes, one per iteration, and keep a list of their numbers.",
    );
    assert.equal(result.answer, "Made 12 texts.");
    assert.equal(result.iterations, 13);
  });
});
