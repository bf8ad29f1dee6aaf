import assert from "node:assert/strict";
import { startOpenAiMock } from "./openai_mock.ts";

async function post(url: string, body: object): Promise<Response> {
  return await fetch(`${url}/chat/completions`, { method: "POST", body: JSON.stringify(body) });
}

Deno.test("startOpenAiMock() speaks the wire format, streaming and not", async () => {
  const mock = await startOpenAiMock({ reply: "hello", models: ["a", "b"] });
  try {
    const whole = await (await post(mock.baseUrl, { model: "m", messages: [] })).json();
    assert.equal(whole.choices[0].message.content, "hello");
    const stream = await (await post(mock.baseUrl, { model: "m", messages: [], stream: true })).text();
    assert.match(stream, /^data: \{.*"content":"hello"/m);
    assert.match(stream, /data: \[DONE\]\n\n$/);
    assert.doesNotMatch(stream, /usage/);
    const models = await (await fetch(`${mock.baseUrl}/models`)).json();
    assert.deepEqual(models.data.map(({ id }: { id: string }) => id), ["a", "b"]);
    assert.equal(mock.requests.length, 2);
  } finally {
    await mock.close();
  }
});

Deno.test("startOpenAiMock() computes replies and reports an empty queue", async () => {
  const mock = await startOpenAiMock({ reply: ["one"] });
  const computing = await startOpenAiMock({ handler: ({ context, index }) => `${index} ${context}` });
  try {
    const body = { model: "m", messages: [{ role: "user", content: "hi" }] };
    await (await post(mock.baseUrl, body)).body?.cancel();
    const empty = await post(mock.baseUrl, body);
    assert.equal(empty.status, 410);
    assert.match(await empty.text(), /no scripted reply left/);
    const reply = await (await post(computing.baseUrl, body)).json();
    assert.equal(reply.choices[0].message.content, "0 hi");
  } finally {
    await mock.close();
    await computing.close();
  }
});

async function withProgram(
  { files, args }: { readonly files: Readonly<Record<string, string>>; readonly args: readonly string[] },
  body: (rig: { readonly url: string; readonly folder: string }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
  const main = new URL("./openai_mock_main.ts", import.meta.url).pathname;
  const told = args.map((arg) => arg.startsWith("--") ? arg : `${folder}/${arg}`);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", main, ...told],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  try {
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const { value } = await reader.read();
    await reader.cancel();
    await body({ url: String(value).trim(), folder });
  } finally {
    child.kill("SIGTERM");
    await child.status;
    await Deno.remove(folder, { recursive: true });
  }
}

const HELLO = { model: "m", messages: [{ role: "user", content: "x" }] };

Deno.test("openai_mock_main.ts serves a script and logs the requests", async () => {
  const files = { "script.json": JSON.stringify(["scripted"]) };
  await withProgram({ files, args: ["script.json", "--log", "log.jsonl"] }, async ({ url, folder }) => {
    const reply = await (await post(url, HELLO)).json();
    assert.equal(reply.choices[0].message.content, "scripted");
    assert.equal(JSON.parse(await Deno.readTextFile(`${folder}/log.jsonl`)).context, "x");
  });
});

Deno.test("openai_mock_main.ts plays a policy", async () => {
  const files = { "policy.ts": "export default ({ context }: { context: string }): string => `saw ${context}`;\n" };
  await withProgram({ files, args: ["--policy", "policy.ts"] }, async ({ url }) => {
    const reply = await (await post(url, HELLO)).json();
    assert.equal(reply.choices[0].message.content, "saw x");
  });
});
