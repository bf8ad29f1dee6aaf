/** A request that a channel refuses makes no conversation, no branch, no query and no call of a model. */
import assert from "node:assert/strict";
import { methods } from "@agentclientprotocol/sdk";
import { join } from "node:path";
import type { Session } from "../../src/channels/channel.ts";
import { runCommand, type RunFlags } from "../../src/channels/cli/commands/run.ts";
import { oneToken } from "../../src/channels/http/tokens.ts";
import { ChatController } from "../../src/channels/tui/chat.ts";
import { Transcript } from "../../src/channels/tui/entries/transcript.ts";
import type { Outgoing } from "../../src/channels/tui/input/outgoing.ts";
import { DEFAULT_PREFS } from "../../src/channels/tui/prefs.ts";
import { makeTheme } from "../../src/channels/tui/text/theme.ts";
import { MAX_REQUEST_CHARS } from "../../src/conversation/ask_options.ts";
import { Cancelled, UsageError } from "../../src/domain/errors.ts";
import { type Engine, startEngine } from "../helpers/engine.ts";
import { final } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";
import { FOLDER, withEditor } from "./acp/_editor.ts";
import { engineServices } from "./cli/_engine_services.ts";
import { NO_QUOTA, startRig, TOKEN } from "./http/_rig.ts";
import { withClient } from "./mcp/_connected.ts";
import { withBot } from "./telegram/_rig.ts";

const BAD_SCHEMA = { type: "no-such-type" };
const TOO_LARGE = "x".repeat(MAX_REQUEST_CHARS + 1);
const OPTIONS = { signal: new AbortController().signal, emit: () => {} };
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0]);
const PNG_URL = `data:image/png;base64,${PNG.toBase64()}`;

type Refused = (check: (engine: Engine) => Promise<void>) => Promise<unknown>;

const CHANNELS: Readonly<Record<string, Refused>> = {
  "vis run, a bad schema": (check) => viaRun(check, async (folder) => ({ schema: await written(folder, BAD_SCHEMA) })),
  "vis run, an image for a model that takes none": (check) => viaRun(check, () => ({ image: [PNG_URL] })),
  "vis run, a context that is not text": (check) =>
    viaRun(check, async (folder) => {
      const context = join(folder, "context.bin");
      await Deno.writeFile(context, Uint8Array.of(0x00, 0xff, 0xfe));
      return { context };
    }),
  "vis run, a request that is too large": (check) => viaRun(check, () => ({}), TOO_LARGE),
  "the screen, an image for a model that takes none": (check) =>
    viaScreen(check, { text: "x", variables: {}, images: { "[image 1]": imageOf("a.png") } }),
  "the screen, a request that is too large": (check) =>
    viaScreen(check, { text: TOO_LARGE, variables: {}, images: {} }),
  "/messages, a bad schema": (check) => viaMessages(check, { responseSchema: BAD_SCHEMA }),
  "/messages, a bad schema where the request might steer": (check) =>
    viaMessages(check, { responseSchema: BAD_SCHEMA, whenBusy: "steer" }),
  "/messages, an image for a model that takes none": (check) => viaMessages(check, { images: [PNG_URL] }),
  "/messages, a request that is too large": (check) => viaMessages(check, { request: TOO_LARGE }),
  "chat completions, a bad schema": (check) =>
    viaOpenAi(check, "chat/completions", {
      messages: [{ role: "user", content: "x" }],
      response_format: { type: "json_schema", json_schema: { name: "x", schema: BAD_SCHEMA } },
    }),
  "chat completions, a model that is not there": (check) =>
    viaOpenAi(check, "chat/completions", { model: "none", messages: [{ role: "user", content: "x" }] }),
  "chat completions, a request that is too large": (check) =>
    viaOpenAi(check, "chat/completions", { messages: [{ role: "user", content: TOO_LARGE }] }),
  "chat completions, a quota that is used up": (check) =>
    viaOpenAi(check, "chat/completions", { messages: [{ role: "user", content: "x" }] }, { queriesPerDay: 0 }),
  "responses, a bad schema": (check) =>
    viaOpenAi(check, "responses", {
      input: "x",
      text: { format: { type: "json_schema", name: "x", schema: BAD_SCHEMA } },
    }),
  "responses, a model that is not there": (check) => viaOpenAi(check, "responses", { model: "none", input: "x" }),
  "responses, a request that is too large": (check) => viaOpenAi(check, "responses", { input: TOO_LARGE }),
  "responses, a quota that is used up": (check) => viaOpenAi(check, "responses", { input: "x" }, { queriesPerDay: 0 }),
  "MCP, a bad schema": (check) => viaMcp(check, { request: "x", schema: BAD_SCHEMA }),
  "MCP, a request of white space": (check) => viaMcp(check, { request: " " }),
  "MCP, a request that is too large": (check) => viaMcp(check, { request: TOO_LARGE }),
  "ACP, an image for a model that takes none": (check) =>
    withEditor([], async ({ context, engine }) => {
      const { sessionId } = await context.request(methods.agent.session.new, { cwd: FOLDER, mcpServers: [] });
      const prompt = [
        { type: "text" as const, text: "x" },
        { type: "image" as const, data: PNG.toBase64(), mimeType: "image/png" },
      ];
      await refusal(() => context.request(methods.agent.session.prompt, { sessionId, prompt }));
      await context.request(methods.agent.session.close, { sessionId });
      await check(engine);
    }),
};

for (const [name, ask] of Object.entries(CHANNELS)) {
  Deno.test(`a refused request leaves no data: ${name}`, async () => {
    const looked = { at: false };
    await ask(async ({ store, branch, provider }) => {
      looked.at = true;
      const listed = await store.listConversations({ limit: 10 });
      assert.deepEqual(listed.map(({ conversationId, queries }) => [conversationId, queries]), [
        [branch.conversationId, 0],
      ]);
      assert.equal(provider.requests.length, 0);
    });
    assert.ok(looked.at);
  });
}

Deno.test("a refused request makes no branch: vis run --fork, a request that is too large", async () => {
  await using engine = await startEngine([final("one")]);
  const { queryId } = await engine.ask("one");
  await assert.rejects(run(engine, { fork: queryId }, TOO_LARGE), UsageError);
  assert.equal((await engine.conversations.branches(engine.branch.conversationId)).length, 1);
});

Deno.test("a refused request makes no branch: a retry whose images no model accepts any more", async () => {
  await using engine = await startEngine([final("one"), final("two")], {
    scripted: { capabilities: { images: true } },
  });
  const { branch, conversations, store } = engine;
  const images = [imageOf("a.png").image];
  const { queryId } = await conversations.ask(branch, "one", { ...OPTIONS, images });
  await conversations.ask(branch, "two", OPTIONS);
  const { conversations: blind } = await startEngine([], { store });
  await assert.rejects(blind.retry(queryId, OPTIONS), /Cannot send images/);
  assert.equal((await conversations.branches(branch.conversationId)).length, 1);
});

Deno.test("Conversations.ask() makes no conversation and no branch once its caller has left", async () => {
  await using engine = await startEngine([final("one")]);
  const { conversations, branch } = engine;
  const { queryId } = await engine.ask("one");
  const gone = { ...OPTIONS, signal: AbortSignal.abort() };
  for (const target of [{ channel: "test", workspace: "/elsewhere" }, { queryId, position: null }]) {
    await assert.rejects(conversations.ask(target, "x", gone), Cancelled);
  }
  assert.equal(await conversations.latest("/elsewhere"), null);
  assert.equal((await conversations.branches(branch.conversationId)).length, 1);
});

Deno.test("a refused request leaves no data: Telegram, where a chat has one conversation from its first message on", () =>
  withBot([], async ({ api, engine, until }) => {
    api.files.set("a.png", PNG);
    for (const number of [1, 2]) {
      api.say(null, { photo: [{ file_id: "a.png", width: 9, height: 9, file_size: PNG.length }], caption: "x" });
      await until(() => api.shown().filter((text) => text.includes("Cannot send images")).length === number);
    }
    const listed = await engine.store.listConversations({ limit: 10 });
    assert.deepEqual(listed.map(({ title, queries }) => [title, queries]).sort(), [["Telegram", 0], ["test", 0]]);
  }));

async function refusal(ask: () => Promise<unknown>): Promise<void> {
  await assert.rejects(ask, /Cannot /);
}

async function run(engine: Engine, flags: Partial<RunFlags>, request = "x"): Promise<number> {
  const { services, io } = engineServices(engine);
  return await runCommand(request, { services, io, flags: { output: "text", quiet: false, verbose: false, ...flags } });
}

async function viaRun(
  check: Parameters<Refused>[0],
  flags: (folder: string) => Partial<RunFlags> | Promise<Partial<RunFlags>>,
  request?: string,
): Promise<void> {
  await using engine = await startEngine([]);
  await withFolder(async (folder) => {
    const given = await flags(folder);
    await assert.rejects(run(engine, given, request), UsageError);
    await check(engine);
  });
}

async function written(folder: string, value: unknown): Promise<string> {
  const path = join(folder, "schema.json");
  await Deno.writeTextFile(path, JSON.stringify(value));
  return path;
}

function imageOf(path: string): Outgoing["images"][string] {
  return { path, image: { kind: "bytes", mediaType: "image/png", bytes: PNG } };
}

async function viaScreen(check: Parameters<Refused>[0], outgoing: Outgoing): Promise<void> {
  await using engine = await startEngine([]);
  const session: Session = {
    ...{ conversations: engine.conversations, workspace: FOLDER, provider: "p", model: "m", database: "" },
    close: () => Promise.resolve(),
  };
  const back: Outgoing[] = [];
  const chat = new ChatController({
    session: () => session,
    transcript: new Transcript(),
    shown: () => ({
      theme: makeTheme({ color: false, dark: null }),
      prefs: DEFAULT_PREFS,
      whole: false,
      undone: new Set<string>(),
    }),
    approve: () => assert.fail("asked"),
    outputs: () => ({ variables: {}, giveBack: () => {} }),
    worked: () => {},
    ring: () => {},
    changed: () => {},
    giveBack: (one) => void back.push(one),
    undone: () => Promise.resolve({}),
    undo: () => Promise.resolve(null),
  });
  chat.send(outgoing);
  await chat.ended;
  assert.deepEqual(back, [outgoing]);
  assert.equal(chat.branch, null);
  await check(engine);
}

async function viaMessages(check: Parameters<Refused>[0], body: object): Promise<void> {
  await using rig = await startRig([], { limits: { bodyBytes: 1 << 24 } });
  const { conversationId } = rig.engine.branch;
  const { status } = await asked(
    rig.post(`/api/v1/conversations/${conversationId}/messages`, { request: "x", ...body }),
  );
  assert.ok([400, 413].includes(status), `${status}`);
  await check(rig.engine);
}

async function viaOpenAi(
  check: Parameters<Refused>[0],
  path: string,
  body: object,
  quota: { readonly queriesPerDay: number } | null = null,
): Promise<void> {
  await using rig = await startRig([], {
    limits: { bodyBytes: 1 << 24 },
    ...(quota ? { tokens: oneToken(TOKEN, { ...NO_QUOTA, ...quota }) } : {}),
  });
  const { status } = await asked(rig.post(`/v1/${path}`, { model: "vis", ...body }));
  assert.ok((quota ? [429] : [400, 404]).includes(status), `${status}`);
  await check(rig.engine);
}

async function asked(answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  await response.body?.cancel();
  return response;
}

async function viaMcp(check: Parameters<Refused>[0], given: Readonly<Record<string, unknown>>): Promise<void> {
  await withClient([], async (client, engine) => {
    const { isError, content } = await client.callTool({ name: "ask", arguments: given });
    assert.equal(isError, true);
    assert.match(JSON.stringify(content), /Cannot /);
    await check(engine);
  });
}
