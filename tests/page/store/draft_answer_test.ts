import assert from "node:assert/strict";
import { DraftAnswer, finishedLength } from "../../../src/page/store/draft_answer.ts";

const CASES: readonly (readonly [string, string, string])[] = [
  ["the last paragraph is open", "One.\nTwo.\n", ""],
  ["a paragraph ends where another begins", "One.\n\nTwo.\nand more", "One.\n\n"],
  ["a fence is open until it is closed", "One.\n\n```ts\nlet a;\n\nlet b;\n", "One.\n\n"],
  ["a fence that was closed is finished", "```ts\nlet a;\n\nlet b;\n```\n\nTwo.\n", "```ts\nlet a;\n\nlet b;\n```\n\n"],
  ["a longer fence holds a shorter one", "````\n```\n\nx\n```\n\ny\n", ""],
  ["a list with empty lines is one", "- a\n\n- b\n\n  more\n\n- c\n", ""],
  ["a list ends before a paragraph", "1. a\n\n2. b\n\nThen.\nx", "1. a\n\n2. b\n\n"],
  ["a list may follow a paragraph", "So:\n\n- a\n- b\n", "So:\n\n"],
  ["a line is judged once it is whole", "One.\n\n-", ""],
];

Deno.test("finishedLength: no further text changes the blocks before it", () => {
  for (const [name, text, finished] of CASES) assert.equal(text.slice(0, finishedLength(text, 0)), finished, name);
});

interface Rig {
  readonly draft: DraftAnswer;
  readonly reads: (readonly string[])[];
  /** Lets the draft read its text, and resolves when it waits again. */
  next(): Promise<void>;
}

function rig(fails = false): Rig {
  const reads: (readonly string[])[] = [];
  let gate = Promise.withResolvers<void>();
  const draft = new DraftAnswer(
    (texts) => {
      reads.push(texts);
      if (fails) return Promise.reject(new Error("no"));
      return Promise.resolve(texts.map((text) => [{ kind: "code" as const, language: "", text }]));
    },
    () => gate.promise,
  );
  const next = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 0));
    gate.resolve();
    gate = Promise.withResolvers<void>();
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  return { draft, reads, next };
}

function texts({ drawn: { value } }: DraftAnswer): readonly (readonly string[])[] | null {
  const of = (tree: readonly unknown[]) => tree.map((block) => String(Reflect.get(block as object, "text")));
  return value && [...value.finished.map(of), of(value.rest)];
}

Deno.test("DraftAnswer reads finished parts once, and the part behind them as it grows", async () => {
  const { draft, reads, next } = rig();
  draft.set("Plain so far.\n\n");
  await next();
  assert.deepEqual([reads, texts(draft)], [[], null], "a text without Markdown is drawn as it is");
  draft.set("Plain so far.\n\n- a\n");
  await next();
  draft.set("Plain so far.\n\n- a\n- b\n");
  await next();
  assert.deepEqual(reads, [["Plain so far.\n\n", "- a\n"], ["", "- a\n- b\n"]]);
  assert.deepEqual(texts(draft), [["Plain so far.\n\n"], ["- a\n- b\n"]]);
});

Deno.test("DraftAnswer shows no Markdown as text while its first tree is on its way", async () => {
  const { draft, next } = rig();
  draft.set("So");
  assert.equal(draft.plain.value, "So");
  draft.set("So:\n\n- a\n");
  assert.deepEqual([draft.plain.value, draft.drawn.value], ["So", null]);
  await next();
  assert.deepEqual(texts(draft), [["So:\n\n"], ["- a\n"]]);
  draft.set("# Another\n");
  assert.deepEqual([draft.plain.value, draft.drawn.value], ["", null]);
});

Deno.test("DraftAnswer begins again with a text that does not continue", async () => {
  const { draft, reads, next } = rig();
  draft.set("# One\n\nFirst.\n");
  await next();
  draft.set("");
  assert.equal(draft.drawn.value, null, "it was refused");
  await next();
  draft.set("# Two\n");
  await next();
  assert.deepEqual(reads.at(-1), ["", "# Two\n"]);
  assert.deepEqual(texts(draft), [["# Two\n"]]);
});

Deno.test("DraftAnswer shows a text unchanged if it cannot be parsed, or is too long", async () => {
  const { draft, reads, next } = rig(true);
  draft.set("# One\n");
  await next();
  draft.set("# One\n\nmore\n");
  await next();
  assert.deepEqual([reads.length, draft.drawn.value, draft.plain.value], [1, null, "# One\n\nmore\n"]);
  const long = rig();
  long.draft.set("# One\n");
  await long.next();
  long.draft.set(`# One\n${"x".repeat(30_000)}`);
  await long.next();
  assert.deepEqual([long.reads.length, long.draft.drawn.value, long.draft.plain.value.length], [1, null, 30_006]);
});
