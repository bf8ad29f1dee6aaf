import assert from "node:assert/strict";
import type { OpenRequest, Session } from "../../../../src/channels/channel.ts";
import { forkConversation } from "../../../../src/channels/cli/commands/conversations.ts";
import { runCommand, type RunFlags, withNamedImages } from "../../../../src/channels/cli/commands/run.ts";
import { ConfigError, ProviderError } from "../../../../src/domain/errors.ts";
import { type EnvironmentView, type Extension, fn, z } from "../../../../src/extension/mod.ts";
import { begun, newIteration } from "../../../conformance/store/fixtures.ts";
import { startEngine } from "../../../helpers/engine.ts";
import { replyJson, type ScriptedReply } from "../../../helpers/scripted_provider.ts";
import { withFolder } from "../../../helpers/with_folder.ts";
import { engineServices } from "../_engine_services.ts";
import { type FakeIo, fakeIo, fakeServices } from "../_fakes.ts";

const FLAGS: RunFlags = { output: "text", quiet: false, verbose: false };

interface Opened {
  readonly io: FakeIo;
  readonly code: number;
  readonly closed: number;
  readonly requests: readonly OpenRequest[];
}

async function run(
  replies: readonly ScriptedReply[],
  { extensions = [], ...options }: {
    readonly flags?: Partial<RunFlags>;
    readonly io?: FakeIo;
    readonly extensions?: readonly Extension[];
    readonly session?: Partial<Session>;
  } = {},
): Promise<Opened> {
  await using engine = await startEngine(replies, { workspace: "/work", extensions });
  const io = options.io ?? fakeIo();
  const requests: OpenRequest[] = [];
  let closed = 0;
  const session: Session = {
    conversations: engine.conversations,
    workspace: "/work",
    provider: "scripted",
    model: "script",
    database: ":memory:",
    close: () => Promise.resolve(void closed++),
    ...options.session,
  };
  const services = fakeServices({
    open: (request) => {
      requests.push(request);
      return Promise.resolve(session);
    },
  });
  const code = await runCommand("what?", { services, io, flags: { ...FLAGS, ...options.flags } });
  return { io, code, closed, requests };
}

Deno.test("runCommand() prints only the answer on stdout and closes its session", async () => {
  const { io, code, closed } = await run([replyJson([], { final: "An answer" })]);
  assert.deepEqual([code, io.out, closed], [0, "An answer\n", 1]);
  assert.match(io.err, /^vis · scripted script · conversation [0-9a-f-]{13}\n1 step · \d+\.\d s · /);
});

Deno.test("runCommand() asks for a plan, and explains how to carry it out", async () => {
  const { io, code } = await run([replyJson([], { final: "The plan" })], { flags: { plan: true } });
  assert.deepEqual([code, io.out], [0, "The plan\n"]);
  assert.match(io.err, /\nThis is a plan: vis run -c "go" carries it out\n$/);
  const silent = await run([replyJson([], { final: "The plan" })], { flags: { plan: true, quiet: true } });
  assert.equal(silent.io.err, "");
});

Deno.test("--quiet keeps the problems of the session on stderr, but not its other notes", async () => {
  const session = { notes: ["the mock is at x", "Cannot read /gone"], problems: ["Cannot read /gone"] };
  const { io } = await run([replyJson([], { final: "An answer" })], { session, flags: { quiet: true } });
  assert.deepEqual([io.out, io.err], ["An answer\n", "vis · Cannot read /gone\n"]);
});

Deno.test("--quiet keeps notes below the answer", async () => {
  const { io } = await run(["Plain words.", "Plain words."], { flags: { quiet: true } });
  assert.equal(io.err, "The model did not use the required format, so no code computed this answer\n");
});

Deno.test("runCommand() gives the reason for a missing answer on stderr", async () => {
  const error = new ProviderError("Cannot sign in: \x1b[31mcheck VIS_API_KEY", { code: "auth", retryable: false });
  const { io, code } = await run([error], { flags: { quiet: true } });
  assert.deepEqual([code, io.out, io.err], [1, "", "vis: Cannot sign in: \\u001b[31mcheck VIS_API_KEY\n"]);
});

Deno.test("runCommand() reports a provider's fault once", async () => {
  const error = new ProviderError("Cannot sign in to the mock: check VIS_API_KEY", { code: "auth", retryable: false });
  const { io, code } = await run([error]);
  const [, fault, summary, ...more] = io.err.trimEnd().split("\n");
  assert.deepEqual([code, fault, more], [1, "vis: Cannot sign in to the mock: check VIS_API_KEY", []]);
  assert.match(summary ?? "", /^1 step · /);
});

Deno.test("runCommand() explains an unusable reply before the usable one", async () => {
  const { io } = await run(["no reply", replyJson([], { final: "An answer" })]);
  assert.match(io.err, /^vis · .*\n\[1\] no usable reply: .+\n2 steps · /);
});

Deno.test("runCommand() cleans an answer for a terminal and keeps it for a pipe", async () => {
  const reply = replyJson(["await answer('\\x1b[2Jgone')"]);
  assert.equal((await run([reply])).io.out, "\x1b[2Jgone\n");
  assert.equal((await run([reply], { io: fakeIo({ stdoutIsTerminal: true }) })).io.out, "\\u001b[2Jgone\n");
});

Deno.test("runCommand() cancels at Ctrl-C, exits with 130 and closes", async () => {
  const io = fakeIo();
  const { code, closed } = await run([() => {
    queueMicrotask(() => io.interrupt());
    return { text: "", delayMs: 60_000 };
  }], { io });
  assert.deepEqual([code, closed, io.out], [130, 1, ""]);
  assert.match(io.err, /^vis: Cancelled after 0 steps; completed work is kept\.$/m);
});

Deno.test("runCommand() closes when the query throws", async () => {
  let closed = 0;
  await using engine = await startEngine([], { openSandbox: () => Promise.reject(new ConfigError("no walls")) });
  engine.provider.push(replyJson("1"));
  const session = { workspace: "/nowhere", provider: "p", model: "m", database: "" };
  const services = fakeServices({
    open: () =>
      Promise.resolve({
        ...session,
        conversations: engine.conversations,
        close: () => Promise.resolve(void closed++),
      }),
  });
  await assert.rejects(runCommand("x", { services, io: fakeIo(), flags: FLAGS }), /no walls/);
  assert.equal(closed, 1);
});

async function withFile(text: string, run: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(path, text);
    await run(path);
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("runCommand() with a schema puts the JSON alone on stdout, and as data into the result", () =>
  withFile('{"type": "object", "required": ["n"]}', async (schema) => {
    const reply = replyJson("await answer({ n: 1 })");
    const { io, code } = await run([reply], { flags: { schema } });
    assert.deepEqual([code, io.out], [0, '{\n  "n": 1\n}\n']);
    const json = await run([reply], { flags: { schema, output: "json" } });
    assert.deepEqual(JSON.parse(json.io.out).value, { n: 1 });
  }));

Deno.test("runCommand() with a schema leaves stdout empty where no answer satisfies it", () =>
  withFile('{"type": "object"}', async (schema) => {
    const { io, code } = await run(Array.from({ length: 5 }, () => replyJson([], { final: "text" })), {
      flags: { schema },
    });
    assert.deepEqual([code, io.out], [1, ""]);
    assert.match(io.err, /^vis: No answer that satisfies the schema after 5 steps\./m);
    const spent = await run(Array.from({ length: 5 }, () => replyJson("1")), { flags: { schema } });
    assert.deepEqual([spent.code, spent.io.out], [1, ""]);
    assert.match(spent.io.err, /^vis: No answer within the budget of 4 steps\./m);
  }));

Deno.test("runCommand() refuses a schema, an image and a model without eyes before anything is stored", async () => {
  const reply = replyJson([], { final: "x" });
  await withFile('{"type": "odd"}', async (schema) => {
    await assert.rejects(
      run([reply], { flags: { schema } }),
      /Cannot use the schema: at #, type must be one of null,.* number, string, array, object, or a list of these/,
    );
  });
  await assert.rejects(run([reply], { flags: { image: ["/no/such.png"] } }), /Cannot use image \/no\/such\.png/);
  const image = ["https://example.org/a.png"];
  await assert.rejects(
    run([reply], { flags: { image } }),
    /Cannot send images: Vis does not know that script of scripted accepts images; /,
  );
});

Deno.test("runCommand() reports that a lost request had no reply if none arrived", async () => {
  for (const replied of [false, true]) {
    await using engine = await startEngine([replyJson([], { final: "An answer" })]);
    const { conversationId, queryId } = await begun(engine.store, { workspace: "/nowhere" });
    if (replied) await engine.store.beginIteration(newIteration(queryId, 0, { blocks: ["while (true);"] }));
    assert.equal(await engine.store.sweepLost(() => false), 1);
    const { io, services } = engineServices(engine);
    await runCommand("go on", { services, io, flags: { ...FLAGS, conversation: conversationId } });
    assert.match(io.err, /^The last request was interrupted: .*No step had finished\./);
    assert.equal(io.err.includes("The model had not replied yet: if the request had --context"), !replied);
  }
});

Deno.test("runCommand() -c continues in a fork without a request, and does not report a new conversation", async () => {
  await using engine = await startEngine([1, 2].map(() => replyJson([], { final: "An answer" })));
  await engine.ask("first");
  const { io, services } = engineServices(engine);
  const { workspace, conversationId } = engine.branch;
  await forkConversation(conversationId, { services, io: engineServices(engine).io, flags: { at: "0" } });
  assert.equal((await engine.conversations.latest(workspace))?.conversationId, conversationId);
  await runCommand("go on", { services, io, flags: { ...FLAGS, continue: true } });
  assert.doesNotMatch(io.err, /begins a new one/);
  assert.match(io.err, new RegExp(`conversation ${conversationId.slice(0, 13)}`));
});

Deno.test("runCommand() -c reports a folder without a conversation, and explains how to continue that of a missing folder", async () => {
  const none = "Vis found no conversation of /nowhere to continue, and begins a new one";
  const shows = "vis conversations list shows the conversations of other folders, and --conversation ID continues one";
  for (const workspace of ["/nowhere", Deno.cwd(), "/gone"]) {
    await using engine = await startEngine([1, 2].map(() => replyJson([], { final: "An answer" })), { workspace });
    const { conversationId } = workspace === "/nowhere" ? engine.branch : await begun(engine.store, { workspace });
    const continued = `the folder /gone is gone; if you moved it, --conversation ${
      conversationId.slice(0, 13)
    } continues its conversation`;
    const hint = { "/nowhere": "", "/gone": `; ${continued}` }[workspace] ?? `; ${shows}`;
    const { io, services } = engineServices(engine);
    await runCommand("go on", { services, io, flags: { ...FLAGS, continue: true } });
    assert.equal(io.err.split("\n")[0], `vis · ${none}${hint}`);
    await runCommand("go on", { services, io, flags: { ...FLAGS, continue: true } });
    assert.match(io.err, /· 1 earlier\n/);
  }
});

Deno.test("runCommand() names the option that allows a refused call, if nobody can answer a question", async () => {
  const doors = fn("open", async ({ approve }: EnvironmentView, name: string) => {
    const request = { what: `open ${name}`, why: "", scope: "doors", option: `--set acme.doors=${name}` };
    return (await approve?.(request, { isQuiet: name === "b" }))?.allowed ?? false;
  }, { doc: "Opens a door.", untimed: true, args: z.tuple([z.string()]), returns: "boolean" });
  const extensions: readonly Extension[] = [
    { namespace: "acme", alias: { ns: "acme", alias: "acme" }, doc: "Doors.", version: "1.0.0", symbols: [doors] },
  ];
  const code = 'await Promise.all(["a", "b", "a"].map((name) => acme.open(name)))';
  const replies = [replyJson(code, { final: "tried" })];
  const { io, code: exit } = await run(replies, { extensions });
  assert.equal(exit, 0);
  assert.match(
    io.err,
    /\nVis refused actions, because nobody can answer its questions here; to allow such actions for one run, add --set acme\.doors=a --set acme\.doors=b\n$/,
  );
  const quiet = await run(replies, { extensions, flags: { quiet: true } });
  assert.match(quiet.io.err, /^Vis refused actions.*doors=b\n$/);
  const terminal = Object.assign(fakeIo(), { stderrIsTerminal: true, askLine: () => Promise.resolve("n") });
  const asked = await run(replies, { extensions, io: terminal });
  assert.doesNotMatch(asked.io.err, /Vis refused actions/);
});

Deno.test("runCommand() asks for the reason after w", async () => {
  const reasons: string[] = [], lines: string[] = [];
  const doors = fn("open", async ({ approve }: EnvironmentView) => {
    reasons.push((await approve?.({ what: "open a", why: "", scope: "doors" }))?.reason ?? "");
    return false;
  }, { doc: "Opens a door.", untimed: true, args: z.tuple([]), returns: "boolean" });
  const extensions: readonly Extension[] = [
    { namespace: "acme", alias: { ns: "acme", alias: "acme" }, doc: "Doors.", version: "1.0.0", symbols: [doors] },
  ];
  const io = Object.assign(fakeIo(), {
    stderrIsTerminal: true,
    stdinIsTerminal: true,
    askLine: (text: string) => Promise.resolve(lines.push(text) === 1 ? "w" : "use the window "),
  });
  await run([replyJson("await acme.open()", { final: "tried" })], { extensions, io });
  assert.match(lines[1] ?? "", /^Why not\? $/);
  assert.match(reasons[0] ?? "", /"use the window"$/);
});

Deno.test("withNamedImages() attaches images of the workspace that typed words name, and keeps other words", async () => {
  await withFolder(async (outer) => {
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...new Uint8Array(40)]);
    const workspace = `${outer}/ws`, notes: string[] = [];
    await Deno.mkdir(workspace);
    for (const name of ["a.png", "b c.png", "piped.png", "../out.png"]) {
      await Deno.writeFile(`${workspace}/${name}`, png);
    }
    await Deno.writeTextFile(`${workspace}/text.png`, "x");
    await Deno.symlink("../out.png", `${workspace}/link.png`);
    const typed =
      'compare @a.png, and @a.png with @"b c.png", not @text.png @gone.png @link.png @../out.png or me@a.png';
    const asked: number[] = [];
    const conversations = { check: ({ images = [] }) => Promise.resolve(void asked.push(images.length)) };
    const session = { workspace, conversations } as unknown as Session;
    const { text, images } = await withNamedImages(`${typed}\n\n@piped.png`, {
      ...{ typed, images: [], session, note: (note: string) => void notes.push(note) },
    });
    assert.equal(
      text,
      "compare [image 1: a.png], and [image 1: a.png] with [image 2: b c.png], not text.png @gone.png @link.png " +
        "@../out.png or me@a.png\n\n@piped.png",
    );
    assert.equal(images.length, 2);
    assert.deepEqual(asked, [1, 2]);
    assert.match(notes.join("\n"), /^@text\.png is not attached: Cannot use image text\.png: [^\n]*$/);
  });
});
