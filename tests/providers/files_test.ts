import assert from "node:assert/strict";
import { join } from "node:path";
import { Cancelled, ConfigError, ProviderError } from "../../src/domain/errors.ts";
import { filesProvider } from "../../src/providers/files.ts";
import type { ModelEvent, ModelMessage } from "../../src/providers/provider.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const MESSAGES: readonly ModelMessage[] = [
  { role: "system", text: "Be brief.", cache: true },
  { role: "user", text: "What is on it?", images: [{ kind: "url", url: "https://example.org/a.png" }] },
];

async function ask(
  folder: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly ModelEvent[]> {
  const provider = await filesProvider(folder);
  const events: ModelEvent[] = [];
  for await (const event of provider.stream({ messages: MESSAGES, model: folder, reasoning: "quick", signal })) {
    events.push(event);
  }
  return events;
}

async function appeared(path: string): Promise<string> {
  while (true) {
    const text = await Deno.readTextFile(path).catch(() => null);
    if (text !== null) return text;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

Deno.test("filesProvider() writes a request to a file and reads the reply from another", async () => {
  await withFolder(async (folder) => {
    const place = join(folder, "new", "place");
    const events = ask(place);
    const request = await appeared(join(place, "001.request.txt"));
    assert.equal(
      request,
      "===== message 1 of 2: system =====\nBe brief.\n\n===== message 2 of 2: user =====\n[image 1]\nWhat is on it?\n",
    );
    await Deno.writeTextFile(join(place, "001.reply.txt"), "A shelf.");
    const [text, end] = await events;
    assert.deepEqual(text, { type: "text", delta: "A shelf." });
    assert.equal(end?.type, "end");
    assert.deepEqual([...Deno.readDirSync(place)].map(({ name }) => name).sort(), ["001.reply.txt", "001.request.txt"]);
  });
});

Deno.test("filesProvider() numbers several requests after the files of the folder", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "041.reply.txt"), "of an earlier run");
    const all = [ask(folder), ask(folder), ask(folder)];
    for (const number of ["042", "043", "044"]) {
      await appeared(join(folder, `${number}.request.txt`));
      await Deno.writeTextFile(join(folder, `${number}.reply.txt`), number);
    }
    const texts = (await Promise.all(all)).map(([first]) => first?.type === "text" ? first.delta : "");
    assert.deepEqual(texts.sort(), ["042", "043", "044"]);
  });
});

Deno.test("filesProvider() does not take a reply that is still empty, and stops waiting when it is cancelled", async () => {
  await withFolder(async (folder) => {
    const controller = new AbortController();
    const asked = ask(folder, controller.signal);
    await appeared(join(folder, "001.request.txt"));
    await Deno.writeTextFile(join(folder, "001.reply.txt"), "\n");
    controller.abort();
    await assert.rejects(asked, Cancelled);
  });
});

Deno.test("filesProvider() gives the reason why a folder or a reply cannot be used", async () => {
  await withFolder(async (folder) => {
    const file = join(folder, "file");
    await Deno.writeTextFile(file, "");
    await assert.rejects(filesProvider(file), ConfigError);
    await Deno.mkdir(join(folder, "001.reply.txt"));
    await Deno.mkdir(join(folder, "002.reply.txt"));
    await Deno.remove(join(folder, "001.reply.txt"));
    const asked = ask(folder);
    await appeared(join(folder, "003.request.txt"));
    await Deno.mkdir(join(folder, "003.reply.txt"));
    await assert.rejects(asked, (error) => error instanceof ProviderError && /003\.reply\.txt/.test(error.message));
  });
});

Deno.test("filesProvider() plays a whole query: the code of the reply runs and its answer is returned", async () => {
  await withFolder(async (folder) => {
    const provider = await filesProvider(folder);
    await using engine = await startEngine([], { provider });
    const result = engine.ask("How much is 6 × 7?");
    await appeared(join(folder, "001.request.txt"));
    await Deno.writeTextFile(
      join(folder, "001.reply.txt"),
      replyJson("const product = 6 * 7"),
    );
    assert.match(await appeared(join(folder, "002.request.txt")), /product/);
    await Deno.writeTextFile(join(folder, "002.reply.txt"), replyJson([], { final: "It is {{product}}." }));
    assert.equal((await result).answer, "It is 42.");
  });
});
