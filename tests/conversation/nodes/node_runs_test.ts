import assert from "node:assert/strict";
import { Bell, Publisher } from "../../../src/conversation/nodes/node_events.ts";
import { encodeRequest, NodeRuns, type NodeRunsParts } from "../../../src/conversation/nodes/node_runs.ts";
import { BusyError } from "../../../src/domain/errors.ts";
import type { ClaimedJob, NodeStore } from "../../../src/persistence/store.ts";

const OWNER = { host: "h", space: "s", pid: 1, started: "1", session: 0 };
const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const fake = <T>(part: Partial<T>): T => part as T;

Deno.test("a command that is read again, since its outcome could not be stored or seen, is carried out once", async () => {
  const choices = { reasoning: "deep", extendsTo: 20, only: "review" } as const;
  const quiet = { signal: new AbortController().signal, emit: () => {}, ...choices };
  const job: ClaimedJob = {
    ...{ queryId: "q", branchId: "b", epoch: 1, begun: false, lost: false, losses: 0, elapsedMs: 0 },
    request: Uint8Array.from(encodeRequest("count", quiet)),
  };
  const [running, settled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ended = Promise.withResolvers<never>();
  const steered: string[] = [];
  const jobs = [job];
  const outcomes = [() => Promise.reject(new Error("the database is lost")), () => Promise.resolve(settled.resolve())];
  let isShown = false;
  const nodes = fake<NodeStore>({
    claim: () => Promise.resolve(jobs.splice(0)),
    commands: () => Promise.resolve(isShown ? [{ id: "c", queryId: "q", kind: "steer", body: "note" }] : []),
    settle: () => outcomes.shift()?.() ?? Promise.resolve(),
    settled: () => {},
  });
  const runs = new NodeRuns({
    ...{ nodes, owner: OWNER, log: LOG, most: 1, bell: new Bell(), publisher: new Publisher(nodes) },
    router: { routes: [] },
    store: fake<NodeRunsParts["store"]>({
      findConversation: () => Promise.resolve(fake({})),
      query: () => Promise.resolve(fake({})),
    }),
    runner: fake<NodeRunsParts["runner"]>({
      run: (_branch, _text, { reasoning, extendsTo, only }) => {
        assert.deepEqual({ reasoning, extendsTo, only }, choices);
        running.resolve();
        return ended.promise;
      },
      steer: (_, text) => Promise.resolve(steered.push(text) > 0),
    }),
  });
  runs.claim();
  await running.promise;
  isShown = true;
  runs.obey();
  await new Promise((resolve) => setTimeout(resolve));
  runs.obey();
  await settled.promise;
  runs.obey();
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(steered, ["note"]);
  ended.reject(new Error("the end of the test"));
  await new Promise((resolve) => setTimeout(resolve));
});

for (const late of [false, true]) {
  Deno.test(`a query that waits for another process never begins after its cancellation, ${late ? "late" : "early"}`, async () => {
    const quiet = { signal: new AbortController().signal, emit: () => {} };
    const job: ClaimedJob = {
      ...{ queryId: "q", branchId: "b", epoch: 1, begun: false, lost: false, losses: 0, elapsedMs: 0 },
      request: Uint8Array.from(encodeRequest("count", quiet)),
    };
    const [running, busy] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()];
    const over = Promise.withResolvers<string>(), jobs = [job], released: string[] = [];
    const nodes = fake<NodeStore>({
      claim: () => Promise.resolve(jobs.splice(0)),
      commands: () => Promise.resolve([]),
      settled: () => {},
      refuse: ({ queryId }) => Promise.resolve(over.resolve(`refused ${queryId}`)),
      release: ({ queryId }) => {
        released.push(queryId);
        if (late) runs.cancel(queryId);
        return Promise.resolve();
      },
      send: ({ queryId, kind }) => {
        over.resolve(`${kind} ${queryId}`);
        return Promise.resolve(true);
      },
    });
    const runs: NodeRuns = new NodeRuns({
      ...{ nodes, owner: OWNER, log: LOG, most: 1, bell: new Bell(), publisher: new Publisher(nodes) },
      router: { routes: [] },
      store: fake<NodeRunsParts["store"]>({ findConversation: () => Promise.resolve(fake({})) }),
      runner: fake<NodeRunsParts["runner"]>({
        run: () => {
          running.resolve();
          return busy.promise;
        },
      }),
    });
    runs.claim();
    await running.promise;
    if (!late) assert.equal(runs.cancel("q"), true);
    busy.reject(new BusyError("Another process runs a query of this branch"));
    assert.equal(await over.promise, late ? "cancel q" : "refused q");
    assert.deepEqual(released, late ? ["q"] : []);
    await new Promise((resolve) => setTimeout(resolve));
  });
}
