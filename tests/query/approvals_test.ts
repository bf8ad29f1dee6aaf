import assert from "node:assert/strict";
import { join } from "node:path";
import { ApprovalFolder } from "../../src/app/session/approval_folder.ts";
import type { ApprovalAnswer, ApprovalQuestion, Approve } from "../../src/domain/query/approval.ts";
import type { Decision } from "../../src/domain/query/outcomes.ts";
import { type EnvironmentView, type Extension, fn, z } from "../../src/extension/mod.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

const DONE = replyJson([], { final: "That is all" });

/** The functions of this extension need the user's approval. `timed` has no time limit of its own. */
const ASKING: Extension = {
  namespace: "test.asking",
  alias: { ns: "test.ext.asking", alias: "asking" },
  doc: "Asks.",
  version: "0.1.0",
  symbols: ["open", "timed"].map((name) =>
    fn(name, async ({ approve }: EnvironmentView, scope = "doors", what = `open ${scope}`) => {
      return await approve?.({ what, why: "It is locked.", scope }) ?? "not here";
    }, {
      doc: "Asks.",
      untimed: name === "open",
      args: z.tuple([z.string().optional(), z.string().optional()]),
      returns: "unknown",
    })
  ),
};

function user(...answers: readonly (Decision | ApprovalAnswer)[]) {
  const asked: ApprovalQuestion[] = [];
  const approve: Approve = (question) => {
    const answer = answers[asked.push(question) - 1] ?? assert.fail("asked too often");
    return Promise.resolve(typeof answer === "string" ? { decision: answer, reason: "" } : answer);
  };
  return { asked, approve };
}

Deno.test("env.approve() asks the user, and the call learns the answer", async () => {
  await using engine = await startEngine(
    [replyJson(['[await asking.open(), await asking.open("doors"), await asking.open("gates")]']), DONE],
    { extensions: [ASKING] },
  );
  const { asked, approve } = user("once", "once", { decision: "no", reason: "not today" });
  await engine.ask("x", { approve });
  assert.deepEqual(asked.map(({ id: _, ...rest }) => rest), [
    { extension: "test.asking", what: "open doors", why: "It is locked.", scope: "doors" },
    { extension: "test.asking", what: "open doors", why: "It is locked.", scope: "doors" },
    { extension: "test.asking", what: "open gates", why: "It is locked.", scope: "gates" },
  ]);
  const shown = engine.context(1);
  assert.match(shown, /allowed: true[\s\S]*allowed: false, reason: .the user said no and wrote \\?"not today/);
  const events = engine.events.filter(({ type }) => type.startsWith("approval"));
  assert.deepEqual(
    events.map((event) => [event.type, "id" in event && event.id, "decision" in event && event.decision]),
    asked.flatMap(({ id }, at) => [
      ["approval_requested", id, false],
      ["approval_answered", id, ["once", "once", "no"][at]],
    ]),
  );
});

Deno.test("Vis asks again after a reason, in the next step, and not after a plain no", async () => {
  const code = "[await asking.open(), await asking.open()]";
  await using engine = await startEngine([replyJson([code]), replyJson([code]), replyJson([code]), DONE], {
    extensions: [ASKING],
  });
  const { asked, approve } = user({ decision: "no", reason: "open the window first" }, "no");
  await engine.ask("x", { approve });
  assert.equal(asked.length, 2);
  assert.equal(engine.context(1).match(/wrote \\?"open the window first/g)?.length, 2);
});

Deno.test("no duration includes the time in which a question was open", async () => {
  let time = 0;
  await using engine = await startEngine([replyJson(["await asking.open()"]), DONE], {
    extensions: [ASKING],
    now: () => time,
  });
  const { ms } = await engine.ask("x", {
    approve: () => {
      time += 3_600_000;
      return Promise.resolve({ decision: "once", reason: "" });
    },
  });
  const blocks = engine.events.flatMap((event) => event.type === "block_finished" ? [event.result.ms] : []);
  const [step] = engine.events.flatMap((event) => event.type === "iteration_finished" ? [event.ms] : []);
  assert.deepEqual({ request: ms, blocks, step }, { request: 0, blocks: [0], step: 0 });
});

Deno.test("without a user to ask, the answer is no, at once; so it is by settings and profile", async () => {
  const reasons = {
    ask: /no user can answer here/,
    never: /the setting approvals is never/,
    locked: /Vis asks nobody in the locked profile/,
  };
  for (const approvals of ["ask", "never", "locked"] as const) {
    const settings = { approvals };
    await using engine = await startEngine([replyJson(["await asking.open()"]), DONE], {
      extensions: [ASKING],
      settings,
    });
    await engine.ask("x", approvals === "ask" ? {} : { approve: () => assert.fail("asked") });
    assert.match(engine.context(1), reasons[approvals]);
    assert.deepEqual(engine.events.filter(({ type }) => type.startsWith("approval")), []);
  }
});

Deno.test("a question that cannot be asked is a refusal", async () => {
  await using engine = await startEngine([replyJson(["await asking.open()"]), DONE], { extensions: [ASKING] });
  await engine.ask("x", { approve: () => Promise.reject(new Error("the terminal is gone")) });
  assert.match(engine.context(1), /allowed: false, reason: "Vis could not ask the user \(the terminal is gone\)"/);
});

Deno.test("a no holds for the scope until the query ends, so that blocks cannot nag", async () => {
  const nagging = "for (let i = 0; i < 20; i++) await asking.open()";
  await using engine = await startEngine([
    replyJson([nagging, nagging]),
    DONE,
    replyJson(["await asking.open()"]),
    DONE,
  ], {
    extensions: [ASKING],
  });
  const first = user("no");
  await engine.ask("x", first);
  assert.equal(first.asked.length, 1);
  const second = user("once");
  await engine.ask("y", second);
  assert.equal(second.asked.length, 1);
});

/** `rules.open(scopes)` asks for these scopes, and with `false` for a scope that is asked every time. */
const RULES: Extension = {
  ...ASKING,
  namespace: "test.rules",
  alias: { ns: "test.ext.rules", alias: "rules" },
  symbols: [
    fn("open", async ({ approve }: EnvironmentView, scopes: readonly string[], lasting = true) => {
      return await approve?.({
        what: `open ${scopes.join(" and ")}`,
        why: "",
        scope: scopes.join(", "),
        scopes,
        lasting,
      });
    }, {
      doc: "Asks.",
      untimed: true,
      args: z.tuple([z.array(z.string()), z.boolean().optional()]),
      returns: "unknown",
    }),
  ],
};

Deno.test("a request with several scopes is allowed if each is known, else only the others are asked", async () => {
  await withFolder(async (home) => {
    const open = (scopes: string) => `(await rules.open(${scopes})).allowed`;
    await using engine = await startEngine([
      replyJson([
        `[${open('["a", "b"]')}, ${open('["b", "a"]')}, ${open('["a", "c", "b"]')}, ${open('["c"]')}, ${
          open('["a"]')
        }]`,
      ]),
      DONE,
    ], { extensions: [RULES], approvalRules: new ApprovalFolder(home), workspace: home });
    const { asked, approve } = user("workspace", "no");
    await engine.ask("x", { approve });
    assert.deepEqual(asked.map(({ what, scope, scopes }) => [what, scope, scopes]), [
      ["open a and b", "a, b", ["a", "b"]],
      ["open a and c and b", "c", undefined],
    ]);
    assert.match(engine.context(1), /\[ true, true, false, false, true \]/);
    assert.deepEqual((await new ApprovalFolder(home).all()).map(({ scope }) => scope).sort(), ["a", "b"]);
  });
});

Deno.test("a question without a lasting answer is asked every time", async () => {
  await withFolder(async (home) => {
    const open = "(await rules.open(['a'], false)).allowed";
    await using engine = await startEngine([replyJson([`[${open}, ${open}, ${open}, ${open}]`]), DONE], {
      extensions: [RULES],
      approvalRules: new ApprovalFolder(home),
      workspace: home,
    });
    const { asked, approve } = user("workspace", "once", "no");
    await engine.ask("x", { approve });
    assert.deepEqual(asked.map(({ lasting }) => lasting), [false, false, false]);
    assert.match(engine.context(1), /\[ true, true, false, false \]/);
    assert.deepEqual(await new ApprovalFolder(home).all(), []);
    const decisions = engine.events.flatMap((event) => event.type === "approval_answered" ? [event.decision] : []);
    assert.deepEqual(decisions, ["once", "once", "no"]);
  });
});

Deno.test("after three refusals in a row a note asks the model to stop asking; an approval resets the count", async () => {
  const open = (scope: string) => `(await asking.open("${scope}")).reason`;
  await using engine = await startEngine([
    replyJson([`[${["a", "b", "c", "d", "e", "f"].map(open).join(", ")}]`]),
    DONE,
  ], { extensions: [ASKING] });
  await engine.ask("x", user("no", "no", "once", "no", "no", "no"));
  const shown = engine.context(1);
  assert.equal(shown.match(/the user said no/g)?.length, 5);
  assert.match(shown, /"the user said no \(the user refused 3 times in a row, so stop asking\)"\n\]/);
});

Deno.test("calls ask one at a time, and an answer for longer settles the others", async () => {
  await using engine = await startEngine([
    replyJson(['await Promise.all(["a", "a", "a", "b"].map((scope) => asking.open(scope)))']),
    DONE,
  ], { extensions: [ASKING] });
  let open = 0;
  const scopes: string[] = [];
  await engine.ask("x", {
    approve: async ({ scope }) => {
      assert.equal(++open, 1);
      scopes.push(scope);
      await new Promise((resolve) => setTimeout(resolve, 20));
      open--;
      return { decision: "conversation", reason: "" };
    },
  });
  assert.deepEqual(scopes, ["a", "b"]);
  assert.equal(engine.context(1).match(/allowed: true/g)?.length, 4);
});

Deno.test("lasting answers are kept by workspace and conversation, for one extension and scope", async () => {
  await withFolder(async (home) => {
    const block = replyJson(['[await asking.open("a"), await asking.open("b")]']);
    const options = { extensions: [ASKING], approvalRules: new ApprovalFolder(home), workspace: home };
    await using engine = await startEngine([block, DONE, block, DONE, block, DONE, block, DONE], options);
    const first = user("conversation", "workspace");
    await engine.ask("x", first);
    assert.equal(first.asked.length, 2);
    const signal = new AbortController().signal;
    const none = user();
    await engine.ask("again", none);
    // The result is the same without a user to ask.
    await engine.ask("and again");
    const other = user("no");
    await engine.conversations.ask({ channel: "test", workspace: home }, "elsewhere", {
      signal,
      emit: () => {},
      ...other,
    });
    assert.deepEqual([none.asked.length, other.asked.map(({ scope }) => scope)], [0, ["a"]]);
    const rules = await new ApprovalFolder(home).all();
    assert.deepEqual(
      rules.map(({ scope, conversationId, workspace }) => [scope, conversationId, workspace]).sort(),
      [["a", engine.branch.conversationId, home], ["b", null, home]],
    );
  });
});

Deno.test("lasting answers belong to a tenant; answers from before tenants belong to the default one", async () => {
  await withFolder(async (home) => {
    const folder = new ApprovalFolder(home);
    const rule = { tenant: "default", workspace: "/w", conversationId: null, extension: "test.a", scope: "doors" };
    await folder.add(rule);
    assert.deepEqual([await folder.has(rule), await folder.has({ ...rule, tenant: "ana" })], [true, false]);
    await folder.add({ ...rule, tenant: "ana" });
    assert.deepEqual((await folder.all()).map(({ tenant }) => tenant).sort(), ["ana", "default"]);
    for (const { id } of (await folder.all()).filter(({ tenant }) => tenant === "ana")) await folder.remove(id);
    const [{ id = "" } = {}] = await folder.all();
    const path = join(home, "approvals", `${id}.json`);
    const { tenant: _, ...before } = JSON.parse(await Deno.readTextFile(path));
    await Deno.writeTextFile(path, JSON.stringify(before));
    assert.equal(await folder.has(rule), true);
  });
});

Deno.test("a rule that cannot be stored applies for the query, and the log reports it", async () => {
  const rules = {
    has: () => Promise.resolve(false),
    add: () => Promise.reject(new Error("read-only")),
    forget: () => Promise.resolve(),
  };
  await using engine = await startEngine([replyJson(["[await asking.open(), await asking.open()]"]), DONE], {
    extensions: [ASKING],
    approvalRules: rules,
  });
  const { asked, approve } = user("workspace");
  await engine.ask("x", { approve });
  assert.equal(asked.length, 1);
  assert.ok(engine.logged.some(({ event }) => event === "approval_not_kept"));
});

Deno.test("the time limit of a block stops while the user thinks", async () => {
  const thinkMs = 3_000;
  await using engine = await startEngine([replyJson(["await asking.open()"]), DONE], {
    extensions: [ASKING],
    settings: { deadlines: { defaultMs: 2_000, minMs: 100, maxMs: 2_000 } },
  });
  await engine.ask("x", {
    approve: () => new Promise((resolve) => setTimeout(() => resolve({ decision: "once", reason: "" }), thinkMs)),
  });
  assert.match(engine.context(1), /allowed: true/);
});

Deno.test("cancelling the query ends the question", async () => {
  await using engine = await startEngine([replyJson(["await asking.open()"])], { extensions: [ASKING] });
  const controller = new AbortController();
  const result = await engine.ask("x", {
    signal: controller.signal,
    approve: (_question, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        controller.abort();
      }),
  });
  assert.equal(result.status, "interrupted");
});

Deno.test("only functions with their own time limit can ask, and only about text that can be shown whole", async () => {
  await using engine = await startEngine([
    replyJson(["await asking.timed()", 'await asking.open("a", "x".repeat(5000))', 'await asking.open("")']),
    DONE,
  ], { extensions: [ASKING] });
  const none = user();
  await engine.ask("x", none);
  const shown = engine.context(1);
  assert.match(shown, /not here/);
  assert.match(shown, /what"? has 5000 characters; the limit is 4000/);
  assert.match(shown, /"(?:what|scope)" must not be empty/);
  assert.equal(none.asked.length, 0);
});

Deno.test("one question covers the repository around the workspace for all extensions, and a look asks none", async () => {
  const changing = (name: string): Extension => ({
    ...ASKING,
    namespace: `test.${name}`,
    alias: { ns: `test.ext.${name}`, alias: name },
    symbols: [
      fn("open", async ({ openRoot }: EnvironmentView, what: string | null) => await openRoot?.(what) ?? "not here", {
        doc: "Opens.",
        untimed: true,
        args: z.tuple([z.string().nullable()]),
        returns: "unknown",
      }),
    ],
  });
  const code = '[await a.open(null), await b.open("change it"), await a.open(null), await a.open("more")]';
  const extensions = [changing("a"), changing("b")];
  const allowed = { allowed: true, reason: "" };
  const results = async (isOpen: boolean, answers: readonly Decision[]) => {
    await using engine = await startEngine([replyJson([`JSON.stringify(${code})`]), DONE], {
      extensions,
      repositoryRoot: () => ({ path: "/", isOpen }),
    });
    const { asked, approve } = user(...answers);
    await engine.ask("x", { approve });
    const [, json = "null"] = /\), await [\s\S]*?→ "(\[.*\])"/.exec(engine.context(1)) ?? [];
    return { asked: asked.map(({ id: _, ...rest }) => rest), given: JSON.parse(json.replaceAll('\\"', '"')) };
  };
  assert.deepEqual(await results(false, ["conversation"]), {
    asked: [{ extension: "vis", what: "change it", why: "", scope: "changes in the whole repository /" }],
    given: [{ allowed: false, reason: "Vis asked no user" }, allowed, allowed, allowed],
  });
  assert.deepEqual(await results(true, []), { asked: [], given: [allowed, allowed, allowed, allowed] });
});
