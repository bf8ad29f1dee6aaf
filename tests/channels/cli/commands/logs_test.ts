import assert from "node:assert/strict";
import { logsCommand, type LogsFlags } from "../../../../src/channels/cli/commands/search.ts";
import { startEngine } from "../../../helpers/engine.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import { engineServices } from "../_engine_services.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

const FLAGS: LogsFlags = { level: "info", limit: 10, follow: false, json: false };

async function logs(flags: Partial<LogsFlags>, options: { onPause?: (time: number) => Promise<"more" | "stop"> } = {}) {
  await using engine = await startEngine([]);
  const { store } = engine;
  const { conversationId } = engine.branch;
  await store.log(
    { level: "debug", event: "quiet", data: {}, at: 1 },
    { level: "info", event: "one", data: { text: "\u001b[2J" }, conversationId, at: 1000 },
    { level: "warn", event: "two", data: {}, at: 2000 },
  );
  const io = fakeIo();
  const facts = { workspace: "/nowhere", provider: "p", model: "m", database: "" };
  const session = { ...facts, conversations: engine.conversations, close: () => Promise.resolve() };
  let pauses = 0;
  const pause = async (): Promise<void> => {
    pauses++;
    if (await options.onPause?.(pauses) === "stop") return io.interrupt();
    await store.log({ level: "error", event: `late${pauses}`, data: {}, at: 3000 });
  };
  const services = fakeServices({ open: () => Promise.resolve(session) });
  const code = await logsCommand({ services, io, flags: { ...FLAGS, ...flags }, pause });
  return { code, out: io.out, conversationId };
}

Deno.test("logsCommand() has a line for each entry of its level, oldest first", async () => {
  const { code, out, conversationId } = await logs({});
  assert.equal(code, 0);
  assert.equal(
    out,
    `1970-01-01 00:00:01.000 info  one  ${conversationId}  {"text":"\\u001b[2J"}\n1970-01-01 00:00:02.000 warn  two  {}\n`,
  );
  assert.match((await logs({ level: "warn" })).out, /^\S+ \S+ warn {2}two {2}\{\}\n$/);
});

Deno.test("logsCommand() prints an object for each entry", async () => {
  const rows = (await logs({ json: true, limit: 1 })).out.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(rows.map(({ event, at }) => [event, at]), [["two", 2000]]);
});

Deno.test("logsCommand() follows until Ctrl-C and misses nothing", async () => {
  const { code, out } = await logs({ follow: true, level: "warn" }, {
    onPause: (time) => Promise.resolve(time === 4 ? "stop" : "more"),
  });
  assert.equal(code, 0);
  assert.deepEqual(out.trim().split("\n").map((line) => line.split(/ +/)[3]), ["two", "late1", "late2", "late3"]);
});

Deno.test("logsCommand() accepts the beginning of a request's id, and reports an unknown one", async () => {
  await using engine = await startEngine([replyJson([], { final: "Yes" })]);
  await engine.ask("x");
  const { queryId = "" } = (await engine.store.queries(engine.branch.branchId))[0] ?? {};
  await engine.store.log({ level: "info", event: "mine", data: {}, queryId, at: 1000 });
  const print = async (query: string) => {
    const { io, services } = engineServices(engine);
    await logsCommand({ services, io, flags: { ...FLAGS, query } });
    return io.out;
  };
  assert.match(await print(queryId.slice(0, 20)), / info {2}mine /);
  await assert.rejects(print("00000000-none"), {
    name: "UsageError",
    message: /^Cannot find request 00000000-none: no single request has an id that begins like this;/,
  });
});
