import assert from "node:assert/strict";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { ANSWERS, callError, EMPTY, ended, FAILS, MISSING, play, PROSE, type StateRow, WORKS } from "./_play.ts";

const COUNT = (files: unknown): string => replyJson(`await answer({ files: ${JSON.stringify(files)} })`);
const SCHEMA = { type: "object", properties: { files: { type: "integer" } }, required: ["files"] };

export const ITERATING: readonly StateRow[] = [
  {
    state: "iterating",
    event: "final accepted",
    next: "ended: `answered`",
    drive: () =>
      play([replyJson("const n = 6 * 7", { final: "{{n}}" })], ({ result, engine }) => {
        ended(result, "answered", /^42$/);
        assert.deepEqual([result.status, result.confidence], ["done", "high"]);
        assert.equal(engine.events.at(-1)?.type, "final");
      }),
  },
  {
    state: "iterating",
    event: "`answer(value)` in a block",
    next: "ended: `answered`; the first answer wins, a later error does not undo it",
    drive: () =>
      play(
        [replyJson(['await answer("one")', 'await answer("two"); throw new Error("late")'], { final: "three" })],
        ({ result }) => {
          ended(result, "answered", /^one$/);
          assert.equal(result.confidence, null);
        },
      ),
  },
  {
    state: "iterating",
    event: "final refused",
    next: "iterating; used +1, the reason in notes",
    drive: () =>
      play([MISSING, ANSWERS], ({ engine, header }) => {
        assert.equal(header(1), "2/4");
        assert.match(engine.context(1), /<notes>[\s\S]*refused[\s\S]*missing[\s\S]*<\/notes>/);
        assert.match(engine.context(1), /<journal>[\s\S]*const seen = 1/);
      }),
  },
  {
    state: "iterating",
    event: "final refused, every block failed",
    next: "iterating; used unchanged, errors +1, the reason in notes",
    drive: () =>
      play([replyJson('throw new Error("broken")', { final: "Fine" }), ANSWERS], ({ engine, header, reasoning }) => {
        assert.deepEqual([header(1), reasoning(1)], ["1/4", "deep"]);
        assert.match(engine.context(1), /<notes>[\s\S]*refused[\s\S]*broken[\s\S]*<\/notes>/);
      }),
  },
  {
    state: "iterating",
    event: "a final with text refused for the same reason twice in a row",
    next: "ended: `answered`, confidence low, with a note",
    drive: async () => {
      const failing = replyJson(["const seen = 1", 'throw new Error("broken")'], { final: "Fine" });
      for (const reply of [replyJson([], { final: "done" }), failing]) {
        await play([reply, reply], ({ result }) => {
          ended(result, "answered");
          assert.deepEqual([result.status, result.confidence, result.notes.length], ["done", "low", 1]);
        });
      }
    },
  },
  {
    state: "iterating",
    event: "final refused for the same reason twice in a row; Vis cannot accept it",
    next: "ended: `unsupported_answer`, with the reason and the answer",
    drive: async () => {
      const failing = replyJson('throw new Error("broken")', { final: "Fine" });
      await play([failing, failing], ({ result }) => ended(result, "unsupported_answer", /broken[\s\S]*gave: Fine/));
      await play([MISSING, MISSING], ({ result }) => ended(result, "unsupported_answer", /names no variable/));
    },
  },
  {
    state: "iterating",
    event: "plain text twice in a row, without a fence, data or a call",
    next: "ended: `answered`, confidence low, with a note",
    drive: async () => {
      for (const before of [[], [WORKS]]) {
        await play([...before, "There is one.", "There is one."], ({ result }) => {
          ended(result, "answered", /^There is one\.$/);
          assert.deepEqual([result.confidence, result.notes.length], ["low", 1]);
        });
      }
    },
  },
  {
    state: "iterating",
    event: "the same text with fences twice; each block failed without a call",
    next: "ended: `answered`, confidence low, with a note",
    drive: () =>
      play(Array(2).fill("Use:\n```js\nimport a from 'a';\na();\n```"), ({ result }) => {
        ended(result, "answered", /^Use:\n```js\nimport a from 'a';\na\(\);\n```$/);
        assert.deepEqual([result.confidence, result.notes.length], ["low", 1]);
      }),
  },
  {
    state: "iterating",
    event: "plain text three times in a row that Vis would not refuse as a final",
    next: "ended: `answered`, confidence low, with a note",
    drive: () =>
      play(Array(3).fill("Run:\n```sh\nls\n```"), ({ result }) => {
        ended(result, "answered", /ls/);
        assert.equal(result.confidence, "low");
      }),
  },
  {
    state: "iterating",
    event: "a fifth reply without a result",
    next: "iterating; used +1",
    drive: () =>
      play(
        [...Array(5).fill(FAILS), ANSWERS],
        ({ header }) => assert.deepEqual([header(4), header(5)], ["1/4", "2/4"]),
      ),
  },
  {
    state: "iterating",
    event: "final refused for a different reason, or not in a row",
    next: "iterating; used +1, the reason in notes",
    drive: async () => {
      const placeholder = replyJson([], { final: "done" });
      await play([MISSING, placeholder, ANSWERS], ({ engine }) => assert.match(engine.context(2), /placeholder/));
      await play([MISSING, WORKS, MISSING, ANSWERS], ({ result }) => assert.match(result.answer, /^It is done/));
    },
  },
  {
    state: "iterating",
    event: "the answer does not fit the caller's schema",
    next: "iterating; used +1, the errors in notes, without a limit of refusals",
    drive: () =>
      play([COUNT("none"), COUNT("none"), COUNT("none"), COUNT(3)], ({ engine, result, header }) => {
        ended(result, "answered", /3/);
        assert.equal(header(3), "4/4");
        assert.match(engine.context(3), /<notes>[\s\S]*refused[\s\S]*files/);
      }, { responseSchema: SCHEMA }),
  },
  {
    state: "iterating",
    event: "blocks ran, at least one succeeded",
    next: "iterating; used +1, errors 0",
    drive: () =>
      play([FAILS, replyJson(["1 + 1", 'throw new Error("x")']), ANSWERS], ({ header, reasoning }) => {
        assert.deepEqual([reasoning(1), header(2), reasoning(2)], ["deep", "2/4", "balanced"]);
      }),
  },
  {
    state: "iterating",
    event: "every block failed",
    next: "iterating; used unchanged, errors +1",
    drive: () =>
      play([FAILS, ANSWERS], ({ engine, header, reasoning }) => {
        assert.deepEqual([header(1), reasoning(1)], ["1/4", "deep"]);
        assert.match(engine.context(1), /<journal>[\s\S]*ERROR[\s\S]*broken/);
      }),
  },
  {
    state: "iterating",
    event: "neither code nor final",
    next: "iterating; used unchanged, errors unchanged, the journal kept",
    drive: () =>
      play([WORKS, FAILS, EMPTY, ANSWERS], async ({ engine, result, header, reasoning }) => {
        assert.deepEqual([header(3), reasoning(3)], ["2/4", "deep"]);
        assert.match(engine.context(3), /^\[iter 2\/4\] 2 replies without a result/);
        assert.match(engine.context(3), /neither code nor final[\s\S]*<journal>[\s\S]*broken/);
        assert.equal((await engine.store.iterations(result.queryId)).length, 4);
      }),
  },
  {
    state: "iterating",
    event: "no usable reply",
    next: "iterating; used unchanged, errors +1, the reason in notes, the journal kept",
    drive: () =>
      play([WORKS, PROSE, ANSWERS], ({ engine, header, reasoning }) => {
        assert.deepEqual([header(2), reasoning(2)], ["2/4", "deep"]);
        assert.match(engine.context(2), /no usable reply[\s\S]*I am sure[\s\S]*<journal>[\s\S]*const a = 1/);
      }),
  },
  {
    state: "iterating",
    event: "the provider refused the content of the call",
    next: "iterating; used unchanged, errors +1, the provider's words in notes",
    drive: () =>
      play([callError(400), ANSWERS], async ({ engine, result, header, reasoning }) => {
        assert.deepEqual([header(1), reasoning(1)], ["1/4", "deep"]);
        assert.match(engine.context(1), /<notes>[\s\S]*refused the request: 400/);
        assert.deepEqual((await engine.store.iterations(result.queryId)).map(({ status }) => status), [
          "error",
          "done",
        ]);
      }),
  },
  {
    state: "iterating",
    event: "the same call error three times in a row",
    next: "ended: `provider`",
    drive: () =>
      play([callError(400), callError(400), callError(400)], ({ engine, result }) => {
        ended(result, "provider", /400/);
        assert.equal(engine.provider.requests.length, 3);
      }),
  },
  {
    state: "iterating",
    event: "the key was refused, or no provider is left",
    next: "ended: `provider`",
    drive: () =>
      play([callError(401)], ({ engine, result }) => {
        ended(result, "provider", /401/);
        assert.equal(engine.provider.requests.length, 1);
      }),
  },
  {
    state: "iterating",
    event: "`extending`, a block makes progress, at most two iterations left",
    next: "iterating; four more in the budget, up to the ceiling, in the next header",
    drive: () =>
      play([replyJson("1 + 1"), replyJson("2 + 2"), replyJson("3 + 3"), ANSWERS], ({ header }) => {
        assert.deepEqual([header(1), header(2), header(3)], ["2/4", "3/7", "4/7"]);
      }, { settings: { ceiling: 7, extending: true } }),
  },
  {
    state: "iterating",
    event: "`requestMoreIterations(n)`",
    next: "iterating; a larger budget, up to the ceiling, in the next header",
    drive: () =>
      play([replyJson("await requestMoreIterations(9)"), ANSWERS], ({ engine, header }) => {
        assert.equal(header(1), "2/7");
        assert.match(engine.context(1), /granted: 3, budget: 7/);
      }, { settings: { ceiling: 7 } }),
  },
  {
    state: "iterating",
    event: "the user sends a message",
    next: "iterating; the message in the notes of the next call, and at most 500 characters of it in later calls",
    drive: async () => {
      await using engine = await startEngine([
        () => {
          steered.push(engine.conversations.steer(engine.branch, "In euros, please"));
          return { text: WORKS };
        },
        WORKS,
        ANSWERS,
      ]);
      const steered: Promise<boolean>[] = [];
      await engine.ask("count");
      assert.deepEqual(await Promise.all(steered), [true]);
      assert.match(engine.context(1), /<notes>[\s\S]*The user says meanwhile: In euros, please/);
      assert.match(engine.context(2), /<notes>[\s\S]*The user said meanwhile: In euros, please/);
      assert.doesNotMatch(engine.context(2), /says meanwhile/);
      assert.equal(await engine.conversations.steer(engine.branch, "Too late"), false);
    },
  },
];
