import assert from "node:assert/strict";
import { ProviderError } from "../../../src/domain/errors.ts";
import type { QueryEvent } from "../../../src/domain/query/query_schemas.ts";
import type { Engine } from "../../helpers/engine.ts";
import type { ApprovalAnswer } from "../../../src/domain/query/approval.ts";
import { ASKING } from "../../helpers/asking_extension.ts";
import { abortable } from "../../../src/domain/kit/concurrency.ts";
import { type EnvironmentView, fn, z } from "../../../src/extension/mod.ts";
import { sample } from "../../extension/_sample.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { withScreen } from "./_rig.ts";

const ENTER = "\r";

Deno.test("a reopened conversation shows its requests, answers and iterations", async () => {
  const replies = [
    replyJson("const seen = [1, 2, 3]; seen.length", { thinking: "I count them." }),
    replyJson([], { final: "There are three: 3" }),
    replyJson([], { final: "Still three: 3" }),
  ];
  const before = async (engine: Engine): Promise<void> => void await engine.ask("How many?");
  await withScreen(replies, { before, place: { continue: true } }, async ({ screen, engine }) => {
    const text = await screen.until("seen.length → 3");
    assert.match(text, /› How many\?[^]*I count them\.[^]*✓ const seen[^]*There are three: 3[^]*2 steps/);
    screen.type(`And now?${ENTER}`);
    await screen.until("Still three: 3");
    assert.equal((await engine.conversations.queries(engine.branch)).length, 2);
  });
});

Deno.test("a conversation that is opened again shows the list of tasks of a request that was not answered", async () => {
  const open = replyJson('const $plan = [{task: "Read it", done: true}, {task: "Write it"}]');
  const before = async (engine: Engine): Promise<void> => void await engine.ask("Go").catch(() => {});
  const replies = [open, new Error("quota is used up"), final("Done: yes")];
  await withScreen(replies, { before, place: { continue: true } }, async ({ screen }) => {
    await screen.until(/▸ Tasks: 1 of 2 done · ended \(Ctrl-T\)/);
    screen.type(`And now?${ENTER}`);
    await screen.until((now) => now.includes("Done: yes") && !now.includes("Tasks"));
  });
});

Deno.test("the screen shows the reason of a failed request once, also after the conversation is opened again", async () => {
  const error = new ProviderError("Cannot sign in: the key is wrong", { code: "auth", retryable: false });
  const before = async (engine: Engine): Promise<void> => void await engine.ask("Go").catch(() => {});
  await withScreen([error, error], { before, place: { continue: true } }, async ({ screen }) => {
    const reopened = await screen.until(/the key is wrong[^]*1 step/);
    assert.equal(reopened.match(/the key is wrong/g)?.length, 1, reopened);
    screen.type(`Again${ENTER}`);
    const again = await screen.until(/› Again[^]*the key is wrong[^]*1 step/);
    assert.equal(again.match(/the key is wrong/g)?.length, 2, again);
  });
});

Deno.test("a conversation that is opened again shows which request was a plan", async () => {
  const before = async ({ conversations, branch }: Engine): Promise<void> => {
    const options = { signal: new AbortController().signal, emit: () => {}, only: "plan" as const };
    assert.equal((await conversations.ask(branch, "Change it", options)).only, "plan");
  };
  await withScreen([final("First a.ts: then b.ts")], { before, place: { continue: true } }, async ({ screen }) => {
    await screen.until(/plan\n› Change it[^]*First a\.ts[^]*This is a plan\. Send go to carry it out/);
  });
});

Deno.test("the screen shows the steps of a request that another process runs, and a question for which it waits", async () => {
  const answered = Promise.withResolvers<ApprovalAnswer>();
  const gate = Promise.withResolvers<void>();
  const replies = [
    replyJson("const first = 'step one'; first"),
    replyJson("await asking.open()"),
    { text: final("Done: yes"), after: gate.promise },
  ];
  const clock = { now: Date.now, sleep: () => new Promise<void>((wake) => setTimeout(wake, 5)) };
  const options = { place: { continue: true }, rows: 60, parts: { clock }, engine: { extensions: [ASKING] } };
  const before = async (engine: Engine): Promise<void> => void await engine.ask("one").catch(() => {});
  await withScreen([final("Begun: yes"), ...replies], { ...options, before }, async ({ screen, engine }) => {
    await screen.until("Begun: yes");
    const asked = engine.conversations.ask(engine.branch, "two", {
      ...{ signal: new AbortController().signal, emit: () => {} },
      approve: () => answered.promise,
    });
    const asks = await screen.until(
      /› two[^]*step one[^]*▸ calling asking\.open[^]*Vis asks[^]*Allow Vis to open doors\?/,
    );
    assert.equal(asks.match(/Allow Vis to open doors/g)?.length, 1, asks);
    assert.match(asks, /runs in another process: waiting for your answer · \d s · Ctrl-C cancels/);
    answered.resolve({ decision: "once", reason: "" });
    await screen.until((now) => !now.includes("Vis asks") && now.includes("runs in another process"));
    gate.resolve();
    await asked;
    await screen.until((now) => now.includes("Done: yes") && !now.includes("runs in another process"));
  });
});

Deno.test("the screen answers, steers and cancels a request that another process runs", async () => {
  const gate = Promise.withResolvers<void>();
  const replies = [
    replyJson("(await asking.open()).allowed"),
    { text: replyJson("const second = 'step two'; second"), after: gate.promise },
    { text: final("never"), after: new Promise<void>(() => {}) },
  ];
  const clock = { now: Date.now, sleep: () => new Promise<void>((wake) => setTimeout(wake, 5)) };
  const options = { place: { continue: true }, rows: 60, parts: { clock }, engine: { extensions: [ASKING] } };
  const before = async (engine: Engine): Promise<void> => void await engine.ask("one");
  await withScreen([final("Begun: yes"), ...replies], { ...options, before }, async ({ screen, engine }) => {
    await screen.until("Begun: yes");
    const asked = engine.conversations.ask(engine.branch, "two", {
      ...{ signal: new AbortController().signal, emit: () => {} },
      approve: (_question, signal) => abortable(new Promise<never>(() => {}), signal),
    });
    await screen.until("Allow Vis to open doors?");
    screen.type("\x07");
    await screen.until("Ctrl-G returns to the input");
    screen.type("y");
    await screen.until("Allow Vis to open doors? yes, for this call only");
    screen.type(`and be quick${ENTER}`);
    await screen.until("and be quick");
    gate.resolve();
    await screen.until(/step two[^]*› and be quick/);
    screen.type("\x1b");
    await screen.until("runs in another process: cancelling");
    assert.deepEqual([(await asked).status, (await asked).reason], ["interrupted", "cancelled"]);
    await screen.until((now) => now.includes("cancelled") && !now.includes("runs in another process"));
  });
});

Deno.test("the screen shows requests that another process adds to its conversation, in their order", async () => {
  const gate = Promise.withResolvers<void>();
  const replies = [
    final("First: yes"),
    { text: final("Second: yes"), after: gate.promise },
    final("Third: yes"),
    final("Fourth: yes"),
  ];
  const clock = { now: Date.now, sleep: () => new Promise<void>((wake) => setTimeout(wake, 5)) };
  const options = { place: { continue: true }, rows: 60, parts: { clock } };
  const before = async (engine: Engine): Promise<void> => void await engine.ask("one");
  await withScreen(replies, { ...options, before }, async ({ screen, engine }) => {
    await screen.until("First: yes");
    screen.type(`/rename Counting${ENTER}`);
    await screen.until("Renamed to Counting"); // The line of a request replaces this notice.
    const asked = engine.ask("two");
    await screen.until(/› two[^]*runs in another process/);
    gate.resolve();
    await asked;
    const text = await screen.until((now) => now.includes("Second: yes") && !now.includes("another process"));
    assert.equal(text.match(/› two/g)?.length, 1, text);
    await screen.until("2 steps ·");
    screen.type(`three${ENTER}`);
    await screen.until("Third: yes");
    await engine.ask("four");
    await screen.until(/› one[^]*› two[^]*› three[^]*Third: yes[^]*› four[^]*Fourth: yes[^]*4 steps/);
  });
});

Deno.test("after a step of another process, the footer reads the branch and the size of the prompt again", async () => {
  const gate = Promise.withResolvers<void>();
  const git = { state: "main" };
  const clock = { now: Date.now, sleep: () => new Promise<void>((wake) => setTimeout(wake, 5)) };
  const parts = { clock, gitState: () => Promise.resolve(git.state) };
  const options = { place: { continue: true }, parts, shows: "git main" };
  const before = async (engine: Engine): Promise<void> => void await engine.ask("one");
  const replies = [final("First: yes"), replyJson("1"), { text: final("Second: yes"), after: gate.promise }];
  await withScreen(replies, { ...options, before }, async ({ screen, engine }) => {
    assert.doesNotMatch(screen.screen(), / KB/);
    git.state = "main*";
    const asked = engine.ask("two");
    await screen.until(/runs in another process: waiting for script[^]*git main\*.* · step 2 of \d.* · [\d.]+ KB/);
    git.state = "topic*";
    gate.resolve();
    await asked;
    await screen.until((now) => now.includes("git topic*") && !now.includes("another process"));
  });
});

Deno.test("when a request begins, the footer reads the branch again", async () => {
  const git = { state: "main*" };
  const parts = { gitState: () => Promise.resolve(git.state) };
  const replies = [{ text: final("never"), delayMs: 60_000 }];
  await withScreen(replies, { parts, shows: "git main*" }, async ({ screen }) => {
    git.state = "topic";
    screen.type(`go${ENTER}`);
    await screen.until(/waiting for[^]*git topic\b/);
  });
});

Deno.test("the screen shows the running step of another process, and the messages that wait for its next step", async () => {
  const replies = [
    final("First: yes"),
    replyJson("const step = 'running now'; await new Promise((wake) => setTimeout(wake, 300_000)); step"),
  ];
  const clock = { now: Date.now, sleep: () => new Promise<void>((wake) => setTimeout(wake, 5)) };
  const options = { place: { continue: true }, rows: 60, parts: { clock } };
  const before = async (engine: Engine): Promise<void> => void await engine.ask("one");
  await withScreen(replies, { ...options, before }, async ({ screen, engine }) => {
    await screen.until("First: yes");
    const cancelling = new AbortController();
    const asked = engine.conversations.ask(engine.branch, "two", { signal: cancelling.signal, emit: () => {} });
    await screen.until(
      /1 │ const step = 'running now'[^]*runs in another process: running code · \d s · Esc cancels/,
    );
    const [wish, taken] = [new AbortController(), new AbortController()];
    void engine.conversations.steer(engine.branch, "and be brief", { signal: wish.signal });
    void engine.conversations.steer(engine.branch, "in German", { signal: taken.signal });
    await screen.until(/⏎ and be brief \(waits for the next step\)[^]*⏎ in German \(waits for the next step\)/);
    taken.abort();
    await screen.until((now) => now.includes("and be brief") && !now.includes("in German"));
    cancelling.abort();
    await asked;
    await screen.until((now) => !now.includes("waits for") && !now.includes("another process"));
  });
});

Deno.test("the screen shows a running step of another process as its own steps: calls, output, tasks, draft", async () => {
  const [first, second, third] = [0, 0, 0].map(() => Promise.withResolvers<void>());
  const printer = sample({
    namespace: "test.printer",
    symbols: [
      fn("print", async ({ showOutput }: EnvironmentView, text: string) => {
        showOutput?.(new TextEncoder().encode(text));
        await (text === "one\n" ? first : second)?.promise;
      }, {
        doc: "Prints.",
        untimed: true,
        action: { doing: "running", done: "ran", things: "commands" },
        args: z.tuple([z.string()]),
        returns: "void",
      }),
    ],
  });
  const open = 'const $plan = [{task: "Read it", done: true}, {task: "Write it"}]; 7';
  const replies = [
    final("First: yes"),
    replyJson(["await printer.print('one\\n')", open, "await printer.print('two\\n')"], { thinking: "I print." }),
    { text: final("A long answer: yes"), between: third?.promise ?? Promise.resolve() },
  ];
  const clock = { now: Date.now, sleep: () => new Promise<void>((wake) => setTimeout(wake, 5)) };
  const options = { place: { continue: true }, rows: 40, parts: { clock }, engine: { extensions: [printer] } };
  const before = async (engine: Engine): Promise<void> => void await engine.ask("one");
  await withScreen(replies, { ...options, before }, async ({ screen, engine }) => {
    await screen.until("First: yes");
    const asked = engine.ask("two");
    const running = await screen.until(/1 I print\.\n {2}▸ running one …\n {4}one\n/);
    assert.doesNotMatch(running, /await printer\.print\('one/);
    assert.match(running, /runs in another process: working · \d s · Esc cancels/);
    first?.resolve();
    await screen.until(/✓ ran one .*\n {2}✓ updated the list of tasks .*\n {2}▸ running two …\n {4}two\n/);
    await screen.until(/▸ Tasks: 1 of 2 · now: Write it/);
    second?.resolve();
    await screen.until(/✓ ran two [^]*A lo[^]*runs in another process: answering/);
    third?.resolve();
    await asked;
    const ended = await screen.until((now) => now.includes("A long answer: yes") && !now.includes("another process"));
    assert.equal(ended.match(/✓ ran one/g)?.length, 1, ended);
    assert.equal(ended.match(/A long answer/g)?.length, 1, ended);
  });
});

Deno.test("a message that another window sends to the request of this screen waits here too, once", async () => {
  const gate = Promise.withResolvers<void>();
  const replies = [{ text: replyJson("1"), after: gate.promise }, final("Done: yes")];
  await withScreen(replies, {}, async ({ screen, engine }) => {
    screen.type(`begin${ENTER}`);
    await screen.until("waiting for");
    const [{ branchId = "" } = {}] = await engine.conversations.list({ limit: 1 });
    const branch = await engine.conversations.byId(branchId);
    screen.type(`from here${ENTER}`);
    await screen.until("from here (waits for the next step, ↑ to edit)");
    void engine.conversations.steer(branch, "from there");
    const text = await screen.until(/from there \(waits for the next step\)/);
    assert.equal(text.match(/waits for/g)?.length, 2);
    gate.resolve();
    const after = await screen.until("Done: yes");
    assert.match(after, /› from here[^]*› from there/);
    assert.doesNotMatch(after, /waits for/);
  });
});

Deno.test("a folder without a conversation to continue is named", async () => {
  await withScreen([], { place: { continue: true } }, async ({ screen }) => {
    await screen.until("Vis found no conversation of /nowhere to continue, and begins a new one");
  });
});

Deno.test("the beginning of an id names a conversation; a missing one is an error before the screen is drawn", async () => {
  const before = async (engine: Engine): Promise<void> => void await engine.ask("How many?");
  const replies = [replyJson([], { final: "There are three: 3" })];
  await withScreen(replies, { before, place: { conversation: "00000000-0000" } }, async ({ screen, code, out }) => {
    await assert.rejects(code, { name: "UsageError", message: /^Cannot find conversation 00000000-0000/ });
    assert.equal(screen.raw, "");
    assert.deepEqual(out, []);
  });
});

Deno.test("iterations can be hidden and shown, thinking as well", async () => {
  const replies = [replyJson("41 + 1", { thinking: "Aloud." }), replyJson([], { final: "It is 42: yes" })];
  const before = async (engine: Engine): Promise<void> => void await engine.ask("What?");
  await withScreen(replies, { before, place: { continue: true } }, async ({ screen, prefs }) => {
    await screen.until("→ 42");
    screen.type("\x14");
    await screen.until("The model keeps no list of tasks; Alt-T shows or hides thinking");
    screen.type("\x1bt");
    await screen.until((text) => !text.includes("Aloud.") && text.includes("→ 42"));
    screen.type(`/iterations${ENTER}`);
    await screen.until((text) => !text.includes("→ 42") && text.includes("It is 42: yes"));
    assert.deepEqual([prefs.get().thinking, prefs.get().iterations], [false, false]);
  });
});

Deno.test("a conversation that is opened again shows the commands of the user, the questions, and the end of a cancelled request", async () => {
  const replies = [
    replyJson("(await asking.open()).allowed"),
    replyJson([], { final: "It is open: true" }),
    replyJson("await new Promise(() => {})"),
  ];
  const engine = { extensions: [ASKING] };
  const ran = `$ npm run lint\n${"a line\n".repeat(30)}two faults`;
  const before = async ({ conversations, branch }: Engine): Promise<void> => {
    const bytes = new TextEncoder().encode(ran);
    const approve = () => Promise.resolve({ decision: "once" as const, reason: "" });
    const variables = {
      ran_7: {
        label: "the output of a command of the user",
        json: false,
        encoding: "utf-8" as const,
        pieces: ReadableStream.from([bytes]),
      },
    };
    const signal = new AbortController();
    await conversations.ask(branch, "Open it", { signal: signal.signal, emit: () => {}, approve, variables });
    const emit = ({ type }: QueryEvent): void => void (type === "block_started" && signal.abort());
    await conversations.ask(branch, "And wait", { signal: signal.signal, emit });
  };
  const runCommand = (): Promise<string> => Promise.resolve("");
  const options = { before, engine, place: { continue: true }, rows: 60, parts: { runCommand } };
  await withScreen(replies, options, async ({ screen }) => {
    const text = await screen.until("two faults");
    assert.match(
      text,
      /\$ npm run lint\n[^]*earlier lines[^]*two faults[^]*› Open it[^]*Allow Vis to open doors\? yes, for this call only/,
    );
    assert.match(text, /› And wait[^]*cancelled · \d steps? · \d/);
    assert.equal(text.match(/^ *cancelled/gm)?.length, 1, text);
    screen.type(`!ls${ENTER}`);
    await screen.until("the next request can read this as ran_8");
    screen.type(`/fork${ENTER}`);
    await screen.until(/And wait +cancelled +now/);
  });
});
