import { compareRecordings, PathMap, Playback, type RecordedQuery } from "../../../src/domain/records/recording.ts";
import { block, iteration, query, recording } from "./recordings.ts";
import assert from "node:assert/strict";

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

Deno.test("Playback.reply() recognises a request by its head, and by the input below it", () => {
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

Deno.test("Playback.begin() refuses a missing query", () => {
  assert.throws(() => new Playback(recording()).begin(0), /Cannot replay request 1: the recording has no request/);
});

Deno.test("Playback returns replies with the paths of the place, and knows their results", () => {
  const paths = new PathMap([["/code", "/tmp/copy"]]);
  const calls = [{ prompt: "Read /code/a", reply: "of /code/a", error: null }];
  const child = query("in /code", { iterations: [iteration(1, { response: "cd /code" })] });
  const first = iteration(1, { response: "ls /code/b /codes", calls, children: [child] });
  const playback = new Playback(recording(query("What is in /code?", { iterations: [first] })), { paths });
  playback.begin(0);
  const replyOf = (text: string) => ({ kind: "reply", text, reasoning: "" });
  assert.deepEqual(playback.reply("What is in /code?"), replyOf("ls /tmp/copy/b /codes"));
  assert.deepEqual(playback.reply("in /tmp/copy"), replyOf("cd /tmp/copy"));
  assert.deepEqual(playback.call("Read /tmp/copy/a"), replyOf("of /tmp/copy/a"));
});

function found(recorded: RecordedQuery, replayed: RecordedQuery): readonly string[] {
  return compareRecordings(recorded, replayed).map(({ place, field }) => `${place}: ${field}`);
}

Deno.test("compareRecordings() ignores times and ids", () => {
  const make = () => query("a", { iterations: [iteration(1, { blocks: [block("1")] })] });
  assert.deepEqual(compareRecordings(make(), make()), []);
});

Deno.test("compareRecordings() finds different results, outcomes and ends", () => {
  const recorded = query("a", { iterations: [iteration(1, { blocks: [block("1"), block("2")] })] });
  const iterations = [iteration(1, { outcome: "failed", error: "e", blocks: [block("1"), block("3")] })];
  const replayed = query("a", { iterations, answer: "no", reason: "max_iterations" });
  assert.deepEqual(found(recorded, replayed), [
    "iteration 1: outcome",
    "iteration 1: error",
    "iteration 1, block 2: preview",
    ": reason",
    ": answer",
  ]);
});

Deno.test("compareRecordings() finds iterations that are missing or new", () => {
  const one = query("a");
  const two = query("a", { iterations: [iteration(1), iteration(2)] });
  assert.deepEqual(found(two, one), ["iteration 2: iteration"]);
  assert.deepEqual(found(one, two), ["iteration 2: iteration"]);
});

Deno.test("compareRecordings() sub-queries are compared by their text, in whatever order they ran", () => {
  const make = (...answers: string[]) =>
    query("a", {
      iterations: [iteration(1, { children: answers.map((answer) => query(answer[0] ?? "", { answer })) })],
    });
  assert.deepEqual(found(make("x1", "y1"), make("y1", "x1")), []);
  assert.deepEqual(found(make("x1", "y1"), make("y2", "x1")), ["iteration 1, sub-query: answer"]);
  assert.deepEqual(found(make("x1"), make()), ["iteration 1: sub-queries"]);
});

Deno.test("compareRecordings() a query that was cut off is compared as far as it came", () => {
  for (const reason of ["cancelled", "forked", "process_lost", "limit_cost"] as const) {
    const iterations = [iteration(1), iteration(2, { status: "interrupted", outcome: "" })];
    const recorded = query("a", { reason, status: "interrupted", iterations });
    assert.deepEqual(found(recorded, query("a", { iterations: [iteration(1), iteration(2)] })), []);
  }
});

Deno.test("compareRecordings() ignores the place in which a run was made, and its effect on sizes", () => {
  const paths = new PathMap([["/code", "/tmp/copy"]]);
  const make = (folder: string, more = "") => {
    const { code, result } = block(`"${folder}/a${more}"`);
    const sized = { code, diffs: [], result: { ...result, size: folder.length + 2, stdout: `in ${folder}` } };
    const child = query(`below ${folder}`, { answer: folder });
    return query("a", {
      answer: `It is in ${folder}`,
      iterations: [iteration(1, { response: `ls ${folder}`, blocks: [sized], children: [child] })],
    });
  };
  assert.deepEqual(compareRecordings(make("/code"), make("/tmp/copy"), { paths }), []);
  assert.deepEqual(compareRecordings(make("/code"), make("/tmp/copy", "b"), { paths }), [
    { place: "iteration 1, block 1", field: "preview", recorded: '"/code/a"', replayed: '"/code/ab"' },
  ]);
});

Deno.test("compareRecordings() ignores durations that a block shows", () => {
  const make = (ms: number, code = 0) => {
    const shown = block(`{ code: ${code}, ms: ${ms} }`);
    const blocks = [{ ...shown, result: { ...shown.result, size: String(ms).length } }];
    return query("a", { iterations: [iteration(1, { blocks })] });
  };
  assert.deepEqual(found(make(9), make(12)), []);
  assert.deepEqual(found(make(9), make(9, 1)), ["iteration 1, block 1: preview"]);
});

const map = new PathMap([["/home/u/my.proj (1)", "/tmp/a-copy/$& x"], ["/home/u/.vis", "/tmp/own"]]);

Deno.test("PathMap moves whole paths, alone and with the paths below them", () => {
  for (
    const [recorded, played] of [
      ["/home/u/my.proj (1)", "/tmp/a-copy/$& x"],
      ['fs.readFile("/home/u/my.proj (1)/a.ts")', 'fs.readFile("/tmp/a-copy/$& x/a.ts")'],
      ["file:///home/u/my.proj (1)/a", "file:///tmp/a-copy/$& x/a"],
      ["In /home/u/my.proj (1). And /home/u/.vis/memo.", "In /tmp/a-copy/$& x. And /tmp/own/memo."],
      ["/home/u/my.proj (1):/home/u/my.proj (1)", "/tmp/a-copy/$& x:/tmp/a-copy/$& x"],
    ]
  ) {
    assert.equal(map.toPlayed(recorded ?? ""), played);
    assert.equal(map.toRecorded(played ?? ""), recorded);
  }
});

Deno.test("PathMap leaves other paths alone", () => {
  for (
    const text of [
      "/home/u/my.proj (1)-old/a",
      "/home/u/my.proj (1).bak",
      "/home/u/my.proj (1)é",
      "/mnt/home/u/my.proj (1)",
      "/home/u/my-proj (1)",
      "../home/u/.vis",
      "",
    ]
  ) assert.equal(map.toPlayed(text), text);
});

Deno.test("PathMap of nothing, of the same folder and of the root changes nothing", () => {
  for (const pairs of [[], [["/a", "/a"]], [["/", "/tmp/x"]], [["", "/tmp/x"]], [["/a", ""]]] as const) {
    assert.equal(new PathMap(pairs).toPlayed("/a/b /tmp/x"), "/a/b /tmp/x");
    assert.equal(new PathMap(pairs).toRecorded("/a/b /tmp/x"), "/a/b /tmp/x");
  }
});
