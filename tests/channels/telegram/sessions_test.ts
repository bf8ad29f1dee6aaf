import assert from "node:assert/strict";
import type { Session } from "../../../src/channels/channel.ts";
import { ModelSessions } from "../../../src/channels/telegram/sessions.ts";
import type { Conversation } from "../../../src/conversation/conversations.ts";
import { ConfigError } from "../../../src/domain/errors.ts";

const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const KEPT = 4;

interface Slow {
  closing: Promise<void>;
  opening: Promise<void>;
}

function rig() {
  const noted: string[] = [];
  const open = new Map<string, number>();
  const slow: Slow = { closing: Promise.resolve(), opening: Promise.resolve() };
  const name = (model: string | null): string => model ?? "main";
  const sessions = new ModelSessions({
    log: LOG,
    open: async (model) => {
      noted.push(`open ${name(model)}`);
      await slow.opening;
      if (model === "broken") throw new ConfigError("Cannot use broken");
      open.set(name(model), (open.get(name(model)) ?? 0) + 1);
      assert.equal(open.get(name(model)), 1, `${name(model)} is open twice`);
      return {
        model,
        conversations: { close: (id: string) => Promise.resolve(void noted.push(`leave ${id} in ${name(model)}`)) },
        close: async () => {
          await slow.closing;
          open.set(name(model), 0);
          noted.push(`close ${name(model)}`);
        },
      } as unknown as Session;
    },
  });
  const isOpen = (): readonly string[] => [...open].filter(([, count]) => count > 0).map(([model]) => model).sort();
  const once = (model: string | null) => sessions.use(model, () => Promise.resolve());
  return { sessions, noted, slow, isOpen, once };
}

const branch = (branchId: string) => ({ branchId }) as Conversation;
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("Sessions closes the session that was used longest ago, but never the configured model's", async () => {
  const { sessions, noted, isOpen, once } = rig();
  await sessions.main();
  for (const model of ["a", "b", "c", "d"]) await once(model);
  await once("a");
  await once("e");
  await settled();
  assert.deepEqual(isOpen(), ["a", "c", "d", "e", "main"]);
  for (let n = 0; n < 50; n++) await once(`m${n}`);
  await settled();
  assert.equal(isOpen().length, KEPT + 1);
  assert.ok(isOpen().includes("main"));
  await sessions.close();
  assert.deepEqual(isOpen(), []);
  assert.equal(noted.filter((one) => one.startsWith("open")).length, noted.filter((one) => /^close/.test(one)).length);
});

Deno.test("Sessions closes no session with running work, however old, until it ends", async () => {
  const { sessions, isOpen, once } = rig();
  const gate = Promise.withResolvers<void>();
  const running = Array.from(
    { length: KEPT + 2 },
    (_, n) => sessions.run(branch(`b${n}`), { model: `run${n}`, work: () => gate.promise }),
  );
  await settled();
  for (let n = 0; n < 10; n++) await once(`idle${n}`);
  await settled();
  assert.deepEqual(isOpen(), Array.from({ length: KEPT + 2 }, (_, n) => `run${n}`));
  gate.resolve();
  await Promise.all(running);
  await settled();
  assert.equal(isOpen().length, KEPT);
  await sessions.close();
});

Deno.test("Sessions: a session that ran for long is not the first one closed after its end", async () => {
  const { sessions, isOpen, once } = rig();
  const gate = Promise.withResolvers<void>();
  const long = sessions.use("long", () => gate.promise);
  for (const model of ["a", "b", "c"]) await once(model);
  gate.resolve();
  await long;
  await once("d");
  await settled();
  assert.deepEqual(isOpen(), ["b", "c", "d", "long"]);
  await sessions.close();
});

Deno.test("Sessions: who wants a model whose session is being closed waits for that, and has a new one, once", async () => {
  const { sessions, noted, slow, once } = rig();
  const gate = Promise.withResolvers<void>();
  slow.closing = gate.promise;
  for (const model of ["a", "b", "c", "d", "e"]) await once(model);
  const again = [once("a"), once("a"), sessions.run(branch("x"), { model: "a", work: () => Promise.resolve() })];
  await settled();
  assert.deepEqual(noted.filter((one) => one.endsWith(" a")), ["open a"]);
  gate.resolve();
  await Promise.all(again);
  assert.deepEqual(noted.filter((one) => one.endsWith(" a")), ["open a", "close a", "open a"]);
  await sessions.close();
});

Deno.test("Sessions: a session that is used again before it was open is opened once, and stays open for its user", async () => {
  const { sessions, noted, slow, isOpen, once } = rig();
  const gate = Promise.withResolvers<void>();
  slow.opening = gate.promise;
  const work = sessions.use("a", () => settled().then(() => isOpen().includes("a")));
  const others = ["a", "b", "c", "d", "e", "f"].map(once);
  gate.resolve();
  assert.equal(await work, true);
  await Promise.all(others);
  assert.deepEqual(noted.filter((one) => one.endsWith(" a")), ["open a"]);
  await sessions.close();
});

Deno.test("Sessions.run() leaves the branch where it was alive, waits where that is being closed, and only then begins", async () => {
  const { sessions, noted, slow, once } = rig();
  const work = (name: string) => () => Promise.resolve(void noted.push(`work ${name}`));
  await sessions.run(branch("x"), { model: "a", work: work("1") });
  await sessions.run(branch("x"), { model: "a", work: work("2") });
  await sessions.run(branch("x"), { model: null, work: work("3") });
  assert.deepEqual(noted, ["open a", "work 1", "work 2", "open main", "leave x in a", "work 3"]);
  await sessions.run(branch("x"), { model: "a", work: work("4") });
  const gate = Promise.withResolvers<void>();
  slow.closing = gate.promise;
  for (const model of ["b", "c", "d", "e"]) await once(model);
  noted.length = 0;
  const last = sessions.run(branch("x"), { model: null, work: work("5") });
  await settled();
  assert.deepEqual(noted, []);
  gate.resolve();
  await last;
  assert.deepEqual(noted, ["close a", "work 5"]);
  await sessions.close();
});

Deno.test("Sessions: a model that cannot be used is tried again, and displaces no other", async () => {
  const { sessions, noted, isOpen, once } = rig();
  for (const model of ["a", "b", "c", "d"]) await once(model);
  for (let n = 0; n < 2; n++) await assert.rejects(once("broken"), ConfigError);
  assert.equal(noted.filter((one) => one === "open broken").length, 2);
  assert.deepEqual(isOpen(), ["a", "b", "c", "d"]);
  await sessions.close();
});
