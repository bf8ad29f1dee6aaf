import assert from "node:assert/strict";
import { PathMap } from "../../../src/domain/records/path_map.ts";
import { Playback } from "../../../src/domain/records/playback.ts";
import { iteration, query, recording } from "./recordings.ts";

Deno.test("Playback.reply() gives each reply of the query that plays once, then none", () => {
  const playback = new Playback(recording(
    query("again", { iterations: [iteration(1), iteration(2, { nativeReasoning: "hm" })] }),
    query("again", { iterations: [iteration(3)] }),
  ));
  assert.equal(playback.reply("again"), null);
  playback.begin(0);
  assert.deepEqual(playback.reply("again"), { kind: "reply", text: "reply 1", reasoning: "" });
  playback.begin(1);
  assert.deepEqual(playback.reply("again"), { kind: "reply", text: "reply 3", reasoning: "" });
  assert.equal(playback.reply("again"), null);
});

Deno.test("Playback.reply() knows a request by its head, and with what it was given below it", () => {
  const long = `${"x".repeat(40_000)}end`;
  const playback = new Playback(recording(query(long), query("short")));
  playback.begin(0);
  assert.equal(playback.reply("something else"), null);
  assert.notEqual(playback.reply(`${long.slice(0, 16_000)}\n\n[… not shown …]`), null);
  playback.begin(1);
  assert.equal(playback.reply("shorter"), null);
  assert.notEqual(playback.reply("short\n\n[The variable context holds …]"), null);
});

Deno.test("Playback.reply() an error of the last call of a query that failed is for good, others are not", () => {
  const failed = { response: "", error: "Cannot ask" };
  const iterations = [iteration(1, failed), iteration(2, failed)];
  const playback = new Playback(recording(query("a", { reason: "provider", iterations })));
  playback.begin(0);
  assert.deepEqual(playback.reply("a"), { kind: "error", message: "Cannot ask", fatal: false });
  assert.deepEqual(playback.reply("a"), { kind: "error", message: "Cannot ask", fatal: true });
});

Deno.test("Playback.call() answers plain calls by their prompt, in order", () => {
  const calls = [
    { prompt: "p", reply: "one", error: null },
    { prompt: "p", reply: null, error: "why" },
  ];
  const child = query("child", { iterations: [iteration(1, { calls })] });
  const playback = new Playback(recording(query("a", { iterations: [iteration(1, { children: [child] })] })));
  playback.begin(0);
  assert.deepEqual(playback.call("p"), { kind: "reply", text: "one", reasoning: "" });
  assert.deepEqual(playback.call("p"), { kind: "error", message: "why", fatal: false });
  assert.deepEqual([playback.call("p"), playback.call("other")], [null, null]);
});

Deno.test("Playback.begin() refuses a query that there is not", () => {
  assert.throws(() => new Playback(recording()).begin(0), /Cannot play query 1: there are 0/);
});

Deno.test("Playback gives replies with the paths of the place, and knows what came of them", () => {
  const paths = new PathMap([["/work", "/tmp/copy"]]);
  const calls = [{ prompt: "Read /work/a", reply: "of /work/a", error: null }];
  const child = query("in /work", { iterations: [iteration(1, { response: "cd /work" })] });
  const first = iteration(1, { response: "ls /work/b /works", calls, children: [child] });
  const playback = new Playback(recording(query("What is in /work?", { iterations: [first] })), { paths });
  playback.begin(0);
  const replyOf = (text: string) => ({ kind: "reply", text, reasoning: "" });
  assert.deepEqual(playback.reply("What is in /work?"), replyOf("ls /tmp/copy/b /works"));
  assert.deepEqual(playback.reply("in /tmp/copy"), replyOf("cd /tmp/copy"));
  assert.deepEqual(playback.call("Read /tmp/copy/a"), replyOf("of /tmp/copy/a"));
});
