import assert from "node:assert/strict";
import { ExtensionStore } from "../../src/environment/extension_store.ts";
import { type EnvironmentView, type Extension, fn, z } from "../../src/extension/mod.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { sample } from "../extension/_sample.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withDatabase } from "../helpers/with_database.ts";
import { shown } from "./_shown.ts";

const END = replyJson([], { final: "That is all" });

function keeper(name: string): Extension {
  const names = ["put", "get", "history", "list", "query", "delete"] as const;
  const symbols = names.map((one) =>
    fn(one, ({ store }: EnvironmentView, ...args: unknown[]) => {
      if (!store) throw new Error("There is no store");
      return Reflect.apply(store[one], store, args);
    }, { doc: "Hands on.", args: z.tuple([]).rest(z.unknown()), returns: "unknown" })
  );
  return sample({ namespace: `test.${name}`, symbols });
}

Deno.test("env.store: a stored value exists for the next call, the next process and no other extension", () =>
  withDatabase(async (path) => {
    const extensions = [keeper("a"), keeper("b")];
    {
      await using engine = await startEngine([
        replyJson([
          "(await a.put('k', {n: [1, null]})).version",
          "(await a.put('k', {n: [1, null]})).version",
          "(await a.put('k', 'second')).version",
          "await a.put('all', true, {scope: 'global'}); await a.get('all')",
          "[await b.get('k'), (await b.list()).length, (await b.query()).length, await b.delete('k')].join()",
          "(await a.history('k')).map(({version, value}) => version + typeof value).join()",
          "(await a.get('k', {version: 1})).n.length",
        ]),
        END,
      ], { path, extensions });
      await engine.ask("x");
      assert.deepEqual(shown(engine), ["1", "1", "2", "undefined", '",0,0,false"', '"2string,1object"', "2"]);
    }
    await using again = await startEngine([
      replyJson(["await a.get('k')", "await a.get('all', {scope: 'global'})", "(await a.query({prefix: 'k'})).length"]),
      END,
    ], { path, extensions });
    await again.ask("y");
    assert.deepEqual(shown(again), ['"second"', "true", "1"]);
  }));

Deno.test("env.store: a fork sees the values at the time of the fork", async () => {
  await using engine = await startEngine([
    replyJson("await a.put('k', 'first'); 0"),
    END,
    replyJson("await a.put('k', 'second'); 0"),
    END,
    replyJson("await a.get('k')"),
    END,
  ], { extensions: [keeper("a")] });
  await engine.ask("one");
  await engine.ask("two");
  const [first] = await engine.store.queries(engine.branch.branchId);
  const fork = await engine.store.fork({ queryId: first?.queryId ?? "", position: null });
  await engine.conversations.ask(fork, "three", {
    signal: new AbortController().signal,
    emit: (event) => void engine.events.push(event),
  });
  assert.equal(shown(engine).at(-1), '"first"');
});

Deno.test("env.store: in activate and prompt too, and of the moment in which it is used", async () => {
  const seen: unknown[] = [];
  const counting = sample({
    namespace: "test.count",
    activate: async ({ store }) => {
      const count = Number(await store?.get("count") ?? 0) + 1;
      await store?.put("count", count);
      seen.push(count);
      return true;
    },
  });
  await using engine = await startEngine([END, END], { extensions: [counting] });
  await engine.ask("one");
  await engine.ask("two");
  assert.deepEqual(seen, [1, 2]);
});

Deno.test("env.store: a value that is not JSON, an invalid key and an unknown option are refused in words", async () => {
  await using store = await memoryStore();
  const own = ownOf(store);
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const refused: readonly (readonly [string, unknown, RegExp])[] = [
    ["undefined", undefined, /Cannot store k: the value is undefined, which is not JSON/],
    ["NaN", [Number.NaN], /Cannot store k: \[0\] is NaN, which is not JSON/],
    ["a function", { a: { b: () => 1 } }, /Cannot store k: \.a\.b is a function/],
    ["a bigint", 1n, /is a bigint/],
    ["a date", { at: new Date() }, /\.at is a Date/],
    ["a map", new Map(), /is a Map/],
    ["bytes", new Uint8Array(1), /is a Uint8Array/],
    ["an instance", new (class Own {})(), /is a Own/],
    ["a getter", Object.defineProperty({}, "x", { get: () => 1, enumerable: true }), /\.x has a getter/],
    ["a hole", [undefined], /\[0\] is undefined/],
    ["a circle", circle, /has more than 500 levels, or contains itself/],
    [
      "too much",
      "x".repeat(1 << 20),
      /Cannot store k: its value has 1048578 characters of JSON, more than the limit of 1048576/,
    ],
  ];
  for (const [what, value, expected] of refused) {
    await assert.rejects(own.put("k", value as string), { message: expected }, what);
  }
  for (const key of ["", " ", "a\u0000b", "\n", "x".repeat(201), "\ud800", 7, null]) {
    await assert.rejects(own.put(key as string, 1), TypeError, String(key));
    await assert.rejects(own.get(key as string), TypeError, String(key));
  }
  const calls: readonly (() => Promise<unknown>)[] = [
    () => own.get("k", { scope: "all" as "global" }),
    () => own.get("k", { version: 0 }),
    () => own.put("k", 1, { ifVersion: -1 }),
    () => own.list({ limit: 0 }),
    () => own.list({ limit: 1.5 }),
    () => own.list({ prefix: 7 as unknown as string }),
    () => own.query({ where: { a: {} as unknown as string } }),
    () => own.query({ since: Number.NaN }),
  ];
  for (const [at, call] of calls.entries()) await assert.rejects(call(), TypeError, String(at));
  assert.deepEqual(await own.list(), []);
});

Deno.test("env.store: hostile keys and values are data", async () => {
  await using store = await memoryStore();
  const own = ownOf(store);
  const value = JSON.parse('{"__proto__": {"x": 1}, "constructor": null, "toJSON": 1}');
  for (const key of ["__proto__", "constructor", "'; DROP TABLE extension_state; --", "%", "_", "a'b\"c"]) {
    await own.put(key, value);
    assert.deepEqual(JSON.stringify(await own.get(key)), JSON.stringify(value));
  }
  assert.equal((await own.list({ prefix: "%" })).length, 1);
  assert.equal((await own.query({ where: { "constructor": null } })).length, 6);
  assert.equal(({} as { x?: number }).x, undefined);
});

function ownOf({ store, branchId }: Awaited<ReturnType<typeof memoryStore>>): ExtensionStore {
  return new ExtensionStore(store, { namespace: "test.a", workspace: "/nowhere", now: () => ({ branchId }) });
}

async function memoryStore() {
  const store = await openStore({ path: ":memory:" });
  const { branchId, conversationId } = await store.createConversation({
    title: "t",
    channel: "test",
    workspace: "/nowhere",
  });
  return { store, branchId, conversationId, [Symbol.asyncDispose]: () => store.close() };
}

Deno.test("env.store: a prompt that is only previewed has it too", async () => {
  const noted = sample({
    namespace: "test.noted",
    prompt: async ({ store }) => `Noted: ${await store?.get("note") ?? "nothing"}`,
    symbols: keeper("noted").symbols ?? [],
  });
  await using engine = await startEngine([replyJson("await noted.put('note', 'bread'); 0"), END], {
    extensions: [noted],
  });
  await engine.ask("x");
  const shown = JSON.stringify(await engine.conversations.preview("y", { branch: engine.branch }));
  assert.match(shown, /Noted: bread/);
});
