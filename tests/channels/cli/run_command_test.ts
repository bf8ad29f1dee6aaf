import assert from "node:assert/strict";
import { runCommand, type RunFlags } from "../../../src/channels/cli/run_command.ts";
import type { OpenRequest, Session } from "../../../src/channels/channel.ts";
import { ConfigError, ProviderError } from "../../../src/domain/errors.ts";
import { startEngine } from "../../helpers/engine.ts";
import { replyJson, type ScriptedReply } from "../../helpers/scripted_provider.ts";
import { type FakeIo, fakeIo, fakeServices } from "./_fakes.ts";

const FLAGS: RunFlags = { output: "text", quiet: false, verbose: false };

interface Opened {
  readonly io: FakeIo;
  readonly code: number;
  readonly closed: number;
  readonly requests: readonly OpenRequest[];
}

async function run(
  replies: readonly ScriptedReply[],
  options: { readonly flags?: Partial<RunFlags>; readonly io?: FakeIo } = {},
): Promise<Opened> {
  await using engine = await startEngine(replies, { workspace: "/work" });
  const io = options.io ?? fakeIo();
  const requests: OpenRequest[] = [];
  let closed = 0;
  const session: Session = {
    conversations: engine.conversations,
    workspace: "/work",
    provider: "scripted",
    model: "script",
    database: ":memory:",
    swept: 0,
    close: () => Promise.resolve(void closed++),
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

Deno.test("runCommand() puts the answer alone on stdout and closes what it opened", async () => {
  const { io, code, closed } = await run([replyJson([], { final: "An answer" })]);
  assert.deepEqual([code, io.out, closed], [0, "An answer\n", 1]);
  assert.match(io.err, /^vis · scripted script · conversation [0-9a-f-]{13}\n1 iteration · \d+\.\d s · /);
});

Deno.test("runCommand() says on stderr why there is no answer", async () => {
  const error = new ProviderError("Cannot sign in: \x1b[31mcheck VIS_API_KEY", { kind: "auth", retryable: false });
  const { io, code } = await run([error], { flags: { quiet: true } });
  assert.deepEqual([code, io.out, io.err], [1, "", "vis: Cannot sign in: \\u001b[31mcheck VIS_API_KEY\n"]);
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
  assert.match(io.err, /^vis: Cancelled after 0 iterations; what was done is kept\.$/m);
});

Deno.test("runCommand() closes when the query throws", async () => {
  let closed = 0;
  await using engine = await startEngine([], { openSandbox: () => Promise.reject(new ConfigError("no walls")) });
  engine.provider.push(replyJson("1"));
  const session = { workspace: "/nowhere", provider: "p", model: "m", database: "", swept: 0 };
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
