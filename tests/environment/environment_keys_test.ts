import assert from "node:assert/strict";
import { type EnvironmentView, type Extension, fn, z } from "../../src/extension/mod.ts";
import { ExtensionRegistry } from "../../src/extension/registry.ts";
import type { ConversationKeys, QueryKeys } from "../../src/extension/spec.ts";
import { recordingLog, sample } from "../extension/_sample.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

/** The value under each key. The type compares the lists with the interfaces, and the tests compare them with the page
 * and the object. */
const CONVERSATION: Readonly<Record<keyof ConversationKeys, string>> = {
  envId: "string",
  conversationId: "string",
  branchId: "string",
  tenant: "string",
  depth: "number",
  workspace: "string",
  root: "string",
  isRootOpen: "boolean",
  readFolders: "object",
  router: "object",
  initialNames: "object",
  varIndex: "object",
  extensions: "object",
  customBindings: "object",
  db: "object",
  store: "object",
  readVar: "function",
  bindVar: "function",
  bumpVarIndex: "function",
  home: "object",
  config: "object",
  register: "function",
  load: "function",
  spawn: "function",
  programWalls: "function",
  networkScopes: "function",
  secrets: "object",
  obeyedPaths: "function",
  endsWithQuery: "boolean",
  closed: "object",
  log: "function",
};
const QUERY: Readonly<Record<keyof QueryKeys, string>> = {
  onlyReads: "boolean",
  signal: "object",
  maxIterations: "number",
  maxDepth: "number",
  currentIterationId: "string",
  userQueryId: "string",
  parentIterationId: "string",
  approve: "function",
  openRoot: "function",
  note: "function",
  warn: "function",
  sourceFault: "function",
  changedFile: "function",
  showOutput: "function",
  watchFiles: "function",
  fileRead: "function",
  ask: "function",
  runChild: "function",
  searchWeb: "function",
};
const OF_REPOSITORY = ["root", "isRootOpen", "openRoot"];
/** This engine lacks these: a program wall, a folder of Vis, a loader, a parent, added folders, and a repository around
 * the workspace. */
const NOT_HERE = [
  ...["home", "load", "spawn", "programWalls", "networkScopes", "secrets", "obeyedPaths", "parentIterationId"],
  "readFolders",
  ...OF_REPOSITORY,
];
const END = replyJson([], { final: "That is all" });

async function watched(
  see: (env: EnvironmentView, where: string) => unknown,
  replies = [replyJson("await spy.look()"), END],
) {
  const spy: Extension = sample({
    namespace: "test.spy",
    config: z.object({}),
    activate: async (env) => (await see(env, "activate"), true),
    prompt: async (env) => (await see(env, "prompt"), ""),
    nudge: ({ environment }) => (see(environment, "nudge"), null),
    symbols: [
      fn("look", (env: EnvironmentView) => see(env, "call"), {
        doc: "Looks.",
        untimed: true,
        args: z.tuple([]),
        returns: "unknown",
      }),
    ],
  });
  return await startEngine(replies, { extensions: [spy, sample({ namespace: "test.off", activate: () => false })] });
}

Deno.test("the environment's table on the page has the keys of the type, with their scopes", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/extend/environment.md", import.meta.url));
  const table = page.slice(0, page.indexOf("\n\nKeys of scope"));
  const rows = [...table.matchAll(/^\| `(\w+)` +\| (.+?) +\| (conversation|query) +\|$/gm)];
  const of = (scope: string) => rows.filter((row) => row[3] === scope).map(([, key]) => key).sort();
  assert.deepEqual(of("conversation"), Object.keys(CONVERSATION).sort());
  assert.deepEqual(of("query"), Object.keys(QUERY).sort());
});

Deno.test("the live environment has exactly the documented keys, with their types", async () => {
  const seen: Record<string, Record<string, string>> = {};
  await using engine = await watched((env, where) => {
    const keys = Object.keys(env).filter((key) => Reflect.get(env, key) !== null);
    seen[where] = Object.fromEntries(keys.map((key) => [key, typeof Reflect.get(env, key)]));
  });
  await engine.ask("x");
  const all = { ...CONVERSATION, ...QUERY };
  const expected = Object.fromEntries(Object.entries(all).filter(([key]) => !NOT_HERE.includes(key)));
  assert.deepEqual(seen["call"], expected);
  const ofCalls = [
    "approve",
    "note",
    "sourceFault",
    "changedFile",
    "showOutput",
    "watchFiles",
    "fileRead",
    "ask",
    "runChild",
    "searchWeb",
  ];
  const outside = Object.fromEntries(Object.entries(expected).filter(([key]) => !ofCalls.includes(key)));
  for (const where of ["activate", "prompt", "nudge"]) {
    const { currentIterationId: _first, ...rest } = seen[where] ?? {};
    const { currentIterationId: _id, ...wanted } = outside;
    assert.deepEqual(rest, wanted, where);
  }
});

Deno.test("keys of the query are absent while none runs", async () => {
  await using engine = await watched(() => {});
  const { Environment } = await import("../../src/environment/environment.ts");
  const environment = await Environment.open({
    branch: engine.branch,
    store: engine.store,
    registry: { activate: () => assert.fail(), namedFile: () => assert.fail() },
    log: { debug() {}, info() {}, warn() {}, error() {} },
    openSandbox: () => assert.fail(),
    now: Date.now,
  });
  try {
    const view = environment.view();
    for (const key of Object.keys(QUERY)) assert.equal(key in view, false, key);
    assert.equal(view.router, undefined);
    assert.deepEqual(view.extensions, []);
  } finally {
    await environment.close();
  }
});

Deno.test("facts: router, names, extensions and iteration are current", async () => {
  const ids: (string | null | undefined)[] = [];
  let facts: EnvironmentView | undefined;
  await using engine = await watched((env, where) => {
    if (where === "prompt" || where === "call") ids.push(env.currentIterationId);
    if (where !== "call") return;
    facts = { ...env };
  });
  await engine.ask("x");
  const [begin, first] = ids;
  assert.equal(begin, null);
  const [query] = await engine.store.queries(engine.branch.branchId);
  assert.equal((await engine.store.iterations(query?.queryId ?? ""))[0]?.iterationId, first);
  assert.deepEqual(facts?.router, {
    providers: [{ name: "scripted", models: ["script"] }],
    root: { provider: "scripted", model: "script" },
    search: null,
  });
  const names = facts?.initialNames ?? new Set();
  for (const name of ["$query", "vars", "print", "results", "spy"]) assert.ok(names.has(name), name);
  for (const name of ["off", "rows"]) assert.ok(!names.has(name), name);
  assert.deepEqual(facts?.extensions?.map(({ namespace, active }) => `${namespace} ${active}`), [
    "test.spy true",
    "test.off false",
  ]);
  assert.deepEqual([facts?.maxIterations, facts?.depth], [4, 0]);
});

Deno.test("varIndex is the index that the model read, and stale after a bump or a new variable", async () => {
  const seen: NonNullable<EnvironmentView["varIndex"]>[] = [];
  const note = ({ varIndex }: EnvironmentView): void => void (varIndex && seen.push(varIndex));
  await using engine = await watched((env, where) => {
    if (where === "prompt" || where === "call") note(env);
    if (where !== "call") return;
    env.bumpVarIndex?.();
    note(env);
  }, [replyJson("const rows = [1, 2, 3]"), replyJson("await spy.look()"), END]);
  await engine.ask("x");
  const [begin, read, bumped] = seen;
  assert.deepEqual([begin?.index, begin?.revision], ["", 0]);
  assert.match(read?.index ?? "", /rows/);
  assert.equal(engine.context(1).includes(read?.index ?? "?"), true);
  assert.equal(bumped?.currentRevision, (read?.currentRevision ?? 0) + 1);
  assert.equal(bumped?.revision, read?.revision);
});

Deno.test("the environment cannot be changed, and values from it do not lead back", async () => {
  const thrown: string[] = [];
  let after: EnvironmentView | undefined;
  await using engine = await watched((env, where) => {
    if (where !== "call") return;
    const attempt = (name: string, work: () => unknown): void => {
      try {
        work();
      } catch (error) {
        thrown.push(`${name} ${(error as Error).name}`);
      }
    };
    const open = env as unknown as Record<string, Record<string, unknown>>;
    for (const key of ["depth", "maxIterations", "currentIterationId", "extensions", "store", "other"]) {
      attempt(key, () => Object.assign(env, { [key]: 7 }));
      attempt(`define ${key}`, () => Object.defineProperty(env, key, { value: 7 }));
    }
    attempt("delete", () => Reflect.deleteProperty(env, "db") || assert.fail("refused"));
    attempt("prototype", () => Object.setPrototypeOf(env, { depth: 7 }));
    attempt("freeze", () => Object.preventExtensions(env));
    attempt("router", () => Object.assign(open["router"] ?? {}, { root: null }));
    attempt("root", () => Object.assign(open["router"]?.["root"] as object, { model: "mine" }));
    attempt("list", () => (open["extensions"] as unknown as unknown[]).push({}));
    attempt("entry", () => Object.assign((open["extensions"] as unknown as object[])[0] ?? {}, { active: false }));
    attempt("varIndex", () => Object.assign(open["varIndex"] ?? {}, { revision: 99 }));
    attempt("db", () => Object.assign(open["db"] ?? {}, { search: () => [] }));
    attempt("store", () => Object.assign(open["store"] ?? {}, { get: () => "mine" }));
    (env.initialNames as Set<string>).add("rows");
    after = { ...env };
    after = { ...after, initialNames: new Set(env.initialNames) };
  });
  await engine.ask("x");
  assert.deepEqual(thrown.filter((one) => !one.endsWith("TypeError")), ["delete AssertionError"]);
  assert.equal(thrown.length, 12 + 1 + 2 + 7);
  assert.deepEqual([after?.depth, after?.maxIterations, after?.router?.root.model], [0, 4, "script"]);
  assert.ok(!after?.initialNames?.has("rows"));
  for (const key of ["close", "endQuery", "run", "bind", "budget", "scope"]) assert.ok(!(key in (after ?? {})), key);
});

Deno.test("a sub-query has its own environment, below the iteration that called, and reads its parent's state", async () => {
  const seen: Record<string, unknown>[] = [];
  const look = async (env: EnvironmentView): Promise<void> => {
    const { depth, envId, conversationId, parentIterationId, currentIterationId, userQueryId, store } = env;
    const facts = { depth, envId, conversationId, parentIterationId, currentIterationId, userQueryId };
    seen.push({ ...facts, kept: await store?.get("k") });
    await store?.put("k", `of ${depth}`);
  };
  const run = async (env: EnvironmentView): Promise<string> => {
    await look(env);
    const { answer = "" } = await env.runChild?.("look") ?? {};
    await look(env);
    return answer;
  };
  const options = { doc: "Does.", args: z.tuple([]), returns: "unknown" };
  const extension = sample({ namespace: "test.spy", symbols: [fn("look", look, options), fn("run", run, options)] });
  const child = replyJson("await spy.look(); await answer('seen')");
  await using engine = await startEngine([replyJson("await spy.run()"), child, END], { extensions: [extension] });
  const { queryId } = await engine.ask("x");
  const [before, inside, after] = seen;
  assert.deepEqual(seen.map(({ userQueryId }) => userQueryId), [queryId, queryId, queryId]);
  assert.deepEqual([before?.["depth"], inside?.["depth"], after?.["depth"]], [0, 1, 0]);
  assert.equal("parentIterationId" in (before ?? {}) && before?.["parentIterationId"], undefined);
  assert.equal(inside?.["parentIterationId"], before?.["currentIterationId"]);
  assert.notEqual(inside?.["envId"], before?.["envId"]);
  assert.equal(inside?.["conversationId"], before?.["conversationId"]);
  assert.deepEqual(seen.map(({ kept }) => kept), [undefined, "of 0", "of 0"]);
});

Deno.test("spawn outside a call ends with the query, and with the conversation where none runs", async () => {
  const { Environment } = await import("../../src/environment/environment.ts");
  await using engine = await watched(() => {});
  const ended: string[] = [];
  const start = ({ spawn }: EnvironmentView): void => {
    spawn?.(["sleep"]).catch((error: Error) => ended.push(error.message));
  };
  const environment = await Environment.open({
    branch: engine.branch,
    store: engine.store,
    registry: new ExtensionRegistry({ log: recordingLog().log }),
    log: recordingLog().log,
    openSandbox: () => Promise.reject(new Error("none here")),
    spawn: (_workspace, _argv, { signal }) =>
      new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    now: Date.now,
  });
  start(environment.view());
  const { signal } = new AbortController();
  const more = { requestMore: () => ({ granted: 0, budget: 4 }), answer: () => {}, onCall: () => {} };
  await environment.beginQuery({ queryId: "q", signal, budget: () => 4, ...more });
  start(environment.view());
  await environment.endQuery();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual(ended, ["Cannot continue the command: its request has ended"]);
  await environment.close();
  assert.deepEqual(ended, [
    "Cannot continue the command: its request has ended",
    "Cannot continue the command: its conversation was closed",
  ]);
});
