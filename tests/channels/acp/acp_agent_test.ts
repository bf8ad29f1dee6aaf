import assert from "node:assert/strict";
import { type ContentBlock, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { EditorSessions } from "../../../src/channels/acp/sessions.ts";
import { WorkspaceError } from "../../../src/domain/errors.ts";
import { startEngine } from "../../helpers/engine.ts";
import { type Editor, FOLDER, sessionIn, textOf, withEditor } from "./_editor.ts";
import { until } from "../../helpers/until.ts";

const of = methods.agent;
const text = (value: string) => ({ type: "text" as const, text: value });

Deno.test("an editor receives the agent's name and abilities", () =>
  withEditor([], async ({ context }) => {
    const told = await context.request(of.initialize, { protocolVersion: 99, clientCapabilities: {} });
    assert.equal(told.protocolVersion, PROTOCOL_VERSION);
    assert.deepEqual(told.agentInfo, { name: "vis", title: "Vis", version: "1.2.3" });
    assert.equal(told.agentCapabilities?.loadSession, true);
  }));

Deno.test("a prompt shows its blocks as calls, then the answer; the first one names the session", async () => {
  let editor: Editor | null = null;
  await withEditor(
    [replyJson("const kept = 40 + 2\nkept"), replyJson('throw new Error("no ``` luck")'), final("It is {{kept}}")],
    async (given) => {
      const { context, engine } = editor = given;
      const { sessionId } = await context.request(of.session.new, { cwd: FOLDER, mcpServers: [] });
      const ended = await context.request(of.session.prompt, { sessionId, prompt: [text("Work it out")] });
      assert.deepEqual(ended, { stopReason: "end_turn" });
      assert.equal((await engine.conversations.byId(sessionId)).title, "Work it out");
    },
  );
  assert.ok(editor);
  const { updates, opened, closed }: Editor = editor;
  const calls = updates.flatMap((update) => {
    if (update.sessionUpdate === "tool_call") return [`${update.status} ${update.kind} ${update.title}`];
    if (update.sessionUpdate === "tool_call_update") return [`${update.status} ${JSON.stringify(update.content)}`];
    return [];
  });
  assert.equal(calls[0], "in_progress execute const kept = 40 + 2 kept");
  assert.match(calls[1] ?? "", /^completed .*42/);
  assert.match(calls[3] ?? "", /^failed .*"````\\nError: no ``` luck\\n````"/);
  const ids = updates.flatMap((update) => "toolCallId" in update ? [update.toolCallId] : []);
  assert.equal(new Set(ids).size, 2, "an update names its call");
  assert.equal(textOf(updates, "agent_message_chunk"), "It is 42");
  assert.deepEqual(
    updates.filter((update) => update.sessionUpdate === "session_info_update").map(({ title }) => title),
    [
      "Work it out",
    ],
  );
  assert.deepEqual([opened, closed], [[FOLDER], [FOLDER]]);
});

Deno.test("an editor lists /more after a request that stopped at its step limit, which continues it", () =>
  withEditor(
    [replyJson("const kept = 1"), final("{{kept}} so far"), replyJson("const more = 2"), final("All {{more}}")],
    async ({ context, updates, engine }) => {
      const { sessionId } = await context.request(of.session.new, { cwd: FOLDER, mcpServers: [] });
      const ask = (words: string) => context.request(of.session.prompt, { sessionId, prompt: [text(words)] });
      const commands = () =>
        updates.flatMap((one) =>
          one.sessionUpdate === "available_commands_update" ? [one.availableCommands.map(({ name }) => name)] : []
        );
      await assert.rejects(ask("/more"), /no request yet/);
      assert.deepEqual(await ask("Work it out"), { stopReason: "max_turn_requests" });
      await until(() => commands().length === 2);
      await context.request(of.session.load, { sessionId, cwd: FOLDER, mcpServers: [] });
      await until(() => commands().length === 3);
      await context.request(of.session.close, { sessionId });
      await context.request(of.session.resume, { sessionId, cwd: FOLDER, mcpServers: [] });
      await until(() => commands().length === 4);
      assert.deepEqual(await ask("/more"), { stopReason: "end_turn" });
      await until(() => commands().length === 5);
      const [fixed, more] = [["plan", "review"], ["more", "plan", "review"]];
      assert.deepEqual(commands(), [fixed, more, more, more, fixed]);
      assert.match(engine.provider.requests[2]?.texts[1] ?? "", /^Continue this request[^]*Work it out$/);
      assert.match(engine.context(2), /^\[iter 1\/10\]/);
    },
    { settings: { budget: 1 } },
  ));

Deno.test("an editor lists prompts and skills, which replace the command that the user sends", async () => {
  const offered = [
    { name: "tidy", detail: "Tidies a folder", text: "Tidy up $1, and keep the tests" },
    { name: "undo", detail: "a name of the screen", text: "Never sent" },
  ];
  await withEditor(
    [final("Tidied"), final("Planned"), final("Taken as text")],
    async ({ context, updates, engine }) => {
      const { sessionId } = await context.request(of.session.new, { cwd: FOLDER, mcpServers: [] });
      const told = () => updates.find((one) => one.sessionUpdate === "available_commands_update");
      await until(() => told() !== undefined);
      const { availableCommands = [] } = told() ?? {};
      assert.deepEqual(availableCommands.map(({ name }) => name), ["plan", "review", "tidy"]);
      assert.equal(availableCommands[2]?.description, "Tidies a folder");
      const ask = (words: string) => context.request(of.session.prompt, { sessionId, prompt: [text(words)] });
      const sent = (at: number): string => engine.provider.requests[at]?.texts.join("\n") ?? "";
      await ask("/tidy src");
      assert.match(sent(0), /Tidy up src, and keep the tests/);
      await ask("/plan split it");
      assert.match(sent(1), /split it/);
      await ask("/tmp is full");
      assert.match(sent(2), /\/tmp is full/);
      await assert.rejects(ask("/plan"), /it has no words/);
      await assert.rejects(ask("/undo"), /it is not one of the commands for editors/);
      await assert.rejects(ask("/nosuch"), /it is not one of the commands for editors/);
      const [, { queryId = "", only = "" } = {}] = await engine.conversations.queries(
        await engine.conversations.byId(sessionId),
      );
      assert.deepEqual([queryId === "", only], [false, "plan"]);
      updates.length = 0;
      await context.request(of.session.load, { sessionId, cwd: FOLDER, mcpServers: [] });
      assert.match(textOf(updates, "user_message_chunk"), /\/plan split it/);
    },
    { offered },
  );
});

Deno.test("content that an editor embeds is a variable, and is not in the request", () =>
  withEditor(
    [replyJson("const n = my_notes_md.length + my_notes_md2.length"), final("{{n}}")],
    async ({ context, updates, engine }) => {
      const { sessionId } = await context.request(of.session.new, { cwd: FOLDER, mcpServers: [] });
      const resource = (uri: string, length: number) => ({
        type: "resource" as const,
        resource: { uri, text: "x".repeat(length) },
      });
      const prompt = [
        text("How long?"),
        resource("file:///a/my-notes.md", 50_000),
        resource("file:///b/my-notes.md#L3", 7),
        { type: "resource_link" as const, name: "b c.ts", uri: "file:///b%20c.ts" },
        { type: "resource_link" as const, name: "d", uri: "https://example.org/d" },
      ];
      await context.request(of.session.prompt, { sessionId, prompt });
      assert.equal(textOf(updates, "agent_message_chunk"), "50007");
      const [query] = await engine.conversations.queries(await engine.conversations.byId(sessionId));
      assert.match(
        query?.text ?? "",
        /^How long\?\nfile:\/\/\/a\/my-notes\.md \(its text is the variable my_notes_md\)\n.*my_notes_md2\)\n@"\/b c\.ts"\nd \(https:\/\/example\.org\/d\)$/,
      );
    },
  ).then(() => {}));

Deno.test("cancelling ends the prompt, and another one continues in the same session", () =>
  withEditor(
    [replyJson("const kept = 1\nawait new Promise(() => {})"), final("later")],
    async ({ context, engine, updates }) => {
      const { sessionId } = await context.request(of.session.new, { cwd: FOLDER, mcpServers: [] });
      const running = context.request(of.session.prompt, { sessionId, prompt: [text("a")] });
      await until(() => updates.some(({ sessionUpdate }) => sessionUpdate === "tool_call"));
      await assert.rejects(
        context.request(of.session.prompt, { sessionId, prompt: [text("b")] }),
        /Invalid request: Cannot start the request: session .* already runs another request; wait until it ends, or cancel it/i,
      );
      await context.notify(of.session.cancel, { sessionId });
      assert.deepEqual(await running, { stopReason: "cancelled" });
      assert.deepEqual(await context.request(of.session.prompt, { sessionId, prompt: [text("c")] }), {
        stopReason: "end_turn",
      });
      assert.equal(engine.provider.requests.length, 2);
    },
  ).then(() => {}));

Deno.test("a session whose folder does not exist is refused with its cwd, and not with an option of Vis", async () => {
  const sessions = new EditorSessions(() => Promise.reject(new WorkspaceError("/gone", "there is no such folder")));
  await assert.rejects(
    sessions.folder({ cwd: "/gone" }),
    /Cannot open a session: its cwd is \/gone, and there is no such folder; open another folder$/,
  );
});

Deno.test("sessions are listed by folder, loaded with their messages, resumed without, closed and deleted", () =>
  withEditor([final("one"), final("two"), final("three")], async ({ context, updates, engine }) => {
    const { sessionId } = await context.request(of.session.new, { cwd: FOLDER, mcpServers: [] });
    await context.request(of.session.prompt, { sessionId, prompt: [text("first")] });
    await context.request(of.session.prompt, { sessionId, prompt: [text("second")] });
    await context.request(of.session.close, { sessionId });
    await assert.rejects(context.request(of.session.prompt, { sessionId, prompt: [text("x")] }), /not found/i);
    const listed = await context.request(of.session.list, { cwd: FOLDER });
    assert.ok(listed.sessions.some((one) => one.sessionId === sessionId && one.title === "first"));
    assert.deepEqual((await context.request(of.session.list, { cwd: "/elsewhere" })).sessions, []);
    updates.length = 0;
    await context.request(of.session.load, { sessionId, cwd: FOLDER, mcpServers: [] });
    assert.equal(textOf(updates, "user_message_chunk"), "firstsecond");
    assert.equal(textOf(updates, "agent_message_chunk"), "onetwo");
    await context.request(of.session.close, { sessionId });
    updates.length = 0;
    await context.request(of.session.resume, { sessionId, cwd: FOLDER, mcpServers: [] });
    assert.deepEqual(updates, []);
    await context.request(of.session.prompt, { sessionId, prompt: [text("third")] });
    assert.equal(textOf(updates, "agent_message_chunk"), "three");
    await context.request(of.session.delete, { sessionId });
    await assert.rejects(engine.conversations.byId(sessionId));
  }));

Deno.test("sessions of a folder are found behind any number of others, page by page, the latest first", () =>
  withEditor([final("one")], async ({ context, engine }) => {
    const create = async (workspace: string, title: string): Promise<string> =>
      (await engine.conversations.create({ title, channel: "acp", workspace })).conversationId;
    const here = [await create(FOLDER, "old"), await create(FOLDER, "new")];
    for (let made = 0; made < 120; made++) await create("/elsewhere", `number ${made}`);
    const branch = await engine.conversations.byId(here[0] ?? "");
    await engine.conversations.ask(branch, "x", { signal: new AbortController().signal, emit: () => {} });
    const { sessions } = await context.request(of.session.list, { cwd: FOLDER });
    assert.deepEqual(sessions.map(({ sessionId }) => sessionId).slice(0, 2), here);
    const [used, other] = sessions.map(({ updatedAt }) => Date.parse(updatedAt ?? ""));
    assert.ok((used ?? 0) > (other ?? Infinity), "when it was used, not when it was created");
    const seen = new Set<string>();
    const first = await context.request(of.session.list, { cwd: "/elsewhere" });
    assert.ok(first.nextCursor);
    const second = await context.request(of.session.list, { cwd: "/elsewhere", cursor: first.nextCursor });
    for (const { sessionId } of [...first.sessions, ...second.sessions]) seen.add(sessionId);
    assert.deepEqual([seen.size, second.nextCursor], [120, undefined]);
    await assert.rejects(context.request(of.session.list, { cursor: "next" }), /cursor/i);
  }));

Deno.test("a prompt may be an image without a text", () =>
  withEditor([final("I see it")], async ({ context, updates, engine }) => {
    const { sessionId } = await context.request(of.session.new, { cwd: FOLDER, mcpServers: [] });
    const image: ContentBlock = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
    const ended = await context.request(of.session.prompt, { sessionId, prompt: [image] });
    assert.deepEqual(ended, { stopReason: "end_turn" });
    assert.equal(textOf(updates, "agent_message_chunk"), "I see it");
    assert.match(engine.provider.requests[0]?.texts.join("\n") ?? "", /See the attached images\./);
  }, { scripted: { capabilities: { images: true } } }));

Deno.test("a session is loaded with its thoughts and its blocks, in order", () =>
  withEditor([replyJson("40 + 2", { thinking: "Adding them" }), final("It is 42")], async ({ context, updates }) => {
    const { sessionId } = await context.request(of.session.new, { cwd: FOLDER, mcpServers: [] });
    await context.request(of.session.prompt, { sessionId, prompt: [text("Work it out")] });
    const kinds = () =>
      updates.map(({ sessionUpdate }) => sessionUpdate).filter((kind) => /message|thought|call/.test(kind));
    const shown = kinds();
    await context.request(of.session.close, { sessionId });
    updates.length = 0;
    await context.request(of.session.load, { sessionId, cwd: FOLDER, mcpServers: [] });
    assert.deepEqual([...new Set(kinds())], ["user_message_chunk", ...new Set(shown)]);
    assert.equal(textOf(updates, "agent_thought_chunk"), "Adding them");
    assert.match(JSON.stringify(updates), /40 \+ 2[^]*completed[^]*42/);
  }));

Deno.test("a session without a request leaves nothing behind", async () => {
  let made = "";
  await withEditor([], async ({ context, engine }) => {
    made = (await context.request(of.session.new, { cwd: FOLDER, mcpServers: [] })).sessionId;
    await context.request(of.session.close, { sessionId: made });
    await assert.rejects(engine.conversations.byId(made));
  });
});

Deno.test("a session without a request can be loaded by another connection, for a week", async () => {
  const DAY_MS = 86_400_000;
  let now = Date.now();
  await using engine = await startEngine([final("hello")], { workspace: FOLDER });
  const connected = () => new EditorSessions(() => Promise.resolve(sessionIn(engine, FOLDER)), () => now);
  const first = connected();
  const [empty, used] = [await first.create({ cwd: FOLDER }), await first.create({ cwd: FOLDER })];
  await engine.conversations.ask(first.get(used).branch, "x", { signal: new AbortController().signal, emit: () => {} });
  await first.close();
  const second = connected();
  assert.equal((await second.load(empty, { cwd: FOLDER })).branch.conversationId, empty);
  now += 8 * DAY_MS;
  await second.create({ cwd: FOLDER });
  await engine.conversations.byId(empty); // The conversation is open here.
  await second.close();
  await connected().create({ cwd: FOLDER });
  await assert.rejects(engine.conversations.byId(empty));
  await engine.conversations.byId(used);
});

Deno.test("a session is loaded only in its own folder", async () => {
  await using engine = await startEngine([], { workspace: FOLDER });
  const sessions = new EditorSessions(({ cwd = FOLDER }) => Promise.resolve(sessionIn(engine, cwd)));
  const id = await sessions.create({ cwd: FOLDER });
  await assert.rejects(
    sessions.load(id, { cwd: "/other" }),
    new RegExp(`Cannot open session ${id} in /other: it belongs to ${FOLDER}; open that folder`),
  );
  assert.equal((await sessions.load(id, { cwd: FOLDER })).branch.conversationId, id);
});

Deno.test("an impossible call returns an error that names the reason", () =>
  withEditor([replyJson("1")], async ({ context }) => {
    const { sessionId } = await context.request(of.session.new, { cwd: FOLDER, mcpServers: [] });
    const prompting = (prompt: ContentBlock[]) => context.request(of.session.prompt, { sessionId, prompt });
    await assert.rejects(context.request(of.session.new, { cwd: "relative", mcpServers: [] }), /absolute path/);
    await assert.rejects(
      context.request(of.session.load, { sessionId: "gone", cwd: FOLDER, mcpServers: [] }),
      /not found/i,
    );
    await assert.rejects(prompting([]), /empty/i);
    await assert.rejects(
      prompting([{ type: "audio", data: "", mimeType: "audio/wav" }]),
      /Invalid params: Cannot accept a prompt with audio: Vis reads only text, images and resources/,
    );
    await assert.rejects(prompting([text("x"), { type: "image", data: "&", mimeType: "image/png" }]), /not base64/);
    const blob = { uri: "file:///a.bin", mimeType: "application/x-bin", blob: "AA==" };
    await assert.rejects(prompting([{ type: "resource", resource: blob }]), /a\.bin: it is application\/x-bin/);
  }));

Deno.test("servers that an editor offers are used by the extension mcp, with one opening for each set", () =>
  withEditor([], async ({ context, servers, opened }) => {
    const local = { name: "My files", command: "/bin/files", args: ["-v"], env: [{ name: "A", value: "1" }] };
    const remote = { type: "http" as const, name: "my_files", url: "http://127.0.0.1:1/", headers: [] };
    for (const mcpServers of [[local, remote], [local, { ...remote, name: "My files" }], []]) {
      await context.request(of.session.new, { cwd: FOLDER, mcpServers });
    }
    await context.request(of.session.new, { cwd: FOLDER, mcpServers: [local, remote] });
    assert.deepEqual(opened, [FOLDER, FOLDER, FOLDER]);
    const first = { command: "/bin/files", args: ["-v"], env: { A: "1" }, network: true, write: ["."] };
    const second = { url: "http://127.0.0.1:1/", headers: {} };
    assert.deepEqual(servers, [{ My_files: first, my_files: second }, { My_files: first, My_files2: second }, {}]);
    const sse = [{ ...remote, type: "sse" as const }];
    await assert.rejects(
      context.request(of.session.new, { cwd: FOLDER, mcpServers: sse }),
      /its type is sse, but Vis supports only stdio and HTTP/,
    );
  }));
