/** Nodes crash, stop for any time and continue, drain and return, in an order that a seed determines. */
import assert from "node:assert/strict";
import { TakenOverError } from "../../../src/domain/errors.ts";
import type { ClaimedJob } from "../../../src/persistence/store.ts";
import { newIteration, newQuery, OWNER, queryEnd } from "../../conformance/store/fixtures.ts";
import { Random } from "../../faults/world/random.ts";
import { postgresTests } from "../../helpers/postgres.ts";
import { lapse, revive, type TestNode, testNode } from "./_cluster.ts";

const test = await postgresTests();

const WRITES = 3, TURNS = 20_000;
const FEW = { nodes: 6, branches: 8, requests: 30 };
const MANY = { nodes: 100, branches: 30, requests: 60 };

interface Run extends ClaimedJob {
  writes: number;
}

class Simulation {
  readonly #nodes: readonly TestNode[];
  readonly #branches: readonly string[];
  readonly #random: Random;
  /** The runs that each node believes to have. A stopped node learns late that it lost one. */
  readonly #runs = new Map<TestNode, Run[]>();
  readonly written: { readonly queryId: string; readonly branchId: string; readonly epoch: number }[] = [];
  readonly ended: string[] = [];
  refused = 0;
  takeovers = 0;
  readonly #requests: number;
  #accepted = 0;

  constructor(
    nodes: readonly TestNode[],
    { branches, requests, random }: {
      readonly branches: readonly string[];
      readonly requests: number;
      readonly random: Random;
    },
  ) {
    this.#nodes = nodes;
    this.#branches = branches;
    this.#requests = requests;
    this.#random = random;
    for (const one of nodes) this.#runs.set(one, []);
  }

  get done(): boolean {
    return this.ended.length === this.#requests;
  }

  async turn(): Promise<void> {
    const at = this.#random.pick(this.#nodes);
    const what = this.#random.below(100);
    if (what < 10) await this.#accept(at);
    else if (what < 30) await this.#claim(at);
    // The node stops, or loses its connection.
    else if (what < 36) await lapse(at, this.#random.pick(this.#nodes).name);
    else if (what < 38) this.#runs.set(at, []); // The node forgets the requests that it took.
    else if (what < 42) await this.#release(at);
    else if (what < 52) await this.#beat(at);
    else await this.#write(at);
  }

  async #accept(at: TestNode): Promise<void> {
    if (this.#accepted === this.#requests) return;
    const queryId = `q${String(this.#accepted++).padStart(3, "0")}`;
    const branchId = this.#random.pick(this.#branches);
    await at.nodes.accept({ queryId, branchId, request: new Uint8Array(), refuseWhenBusy: false });
  }

  async #claim(at: TestNode): Promise<void> {
    const runs = this.#runs.get(at) ?? [];
    for (const job of await at.nodes.claim(1 + this.#random.below(3), runs.map(({ branchId }) => branchId))) {
      if (job.epoch > 1) this.takeovers++;
      runs.push({ ...job, writes: 0 });
      const { queryId, branchId } = job;
      if (job.begun) assert.notEqual(await at.store.takeOver(queryId, OWNER), null);
      else await at.store.beginQuery({ ...newQuery(branchId, queryId), queryId });
    }
  }

  async #beat(at: TestNode): Promise<void> {
    const held = await revive(at);
    const runs = (this.#runs.get(at) ?? []).filter(({ queryId, epoch }) => held.get(queryId) === epoch);
    this.#runs.set(at, runs);
    for (const [queryId, epoch] of held) {
      if (!runs.some((run) => run.queryId === queryId)) await at.nodes.release({ queryId, epoch });
    }
  }

  async #release(at: TestNode): Promise<void> {
    const run = this.#runs.get(at)?.shift();
    if (run) await at.nodes.release(run);
  }

  /** Writes once in a run. The last write ends its query. */
  async #write(at: TestNode): Promise<void> {
    const runs = this.#runs.get(at) ?? [];
    if (runs.length === 0) return;
    const run = this.#random.pick(runs);
    const { queryId, branchId, epoch } = run;
    const isLast = ++run.writes === WRITES;
    const isStored = await (isLast ? at.store.endQuery(queryId, queryEnd()) : this.#iterate(at, queryId)).then(
      () => true,
      (error: unknown) => {
        if (error instanceof TakenOverError) return false;
        throw error;
      },
    );
    if (isStored) this.written.push({ queryId, branchId, epoch });
    else this.refused++;
    if (isStored && isLast) this.ended.push(queryId);
    if (!isStored || isLast) runs.splice(runs.indexOf(run), 1);
  }

  async #iterate({ store, sql }: TestNode, queryId: string): Promise<void> {
    const [row] = await sql("SELECT count(*) AS count FROM iteration WHERE query_state_id = $1", queryId);
    const id = await store.beginIteration(newIteration(queryId, Number(row?.["count"])));
    await store.endIteration(id, {
      ...{ status: "done", blocks: [], system: [], error: null, empty: true, metadata: {} },
      totals: { iterations: 1, usage: queryEnd().usage, costUsd: 0 },
    });
  }
}

for (const [seed, size] of [FEW, FEW, FEW, MANY].entries()) {
  test(`every request is run once and in order whatever happens to ${size.nodes} nodes (seed ${seed + 1})`, async (postgres) => {
    const url = await postgres.createDatabase();
    const nodes: TestNode[] = [];
    for (let n = 0; n < size.nodes; n++) nodes.push(await testNode(url, `n${n}`));
    try {
      const branches = await Promise.all(Array.from({ length: size.branches }, async (_, n) => {
        const facts = { title: `${n}`, channel: "http", workspace: "/w" };
        return (await nodes[0]?.store.createConversation(facts))?.branchId ?? "";
      }));
      const simulation = new Simulation(nodes, { ...size, branches, random: new Random(seed + 1) });
      for (let turn = 0; turn < TURNS && !simulation.done; turn++) await simulation.turn();
      const { ended, written, refused, takeovers } = simulation;
      assert.deepEqual([ended.length, new Set(ended).size], [size.requests, size.requests]);
      assert.ok(refused > 0 && takeovers > 0, `${refused} writes refused, ${takeovers} takeovers`);
      for (const branch of branches) {
        const order = written.filter(({ branchId }) => branchId === branch)
          .map(({ queryId, epoch }) => `${queryId} ${String(epoch).padStart(3, "0")}`);
        assert.deepEqual(
          order,
          order.toSorted(),
          "a request after the one before it, an epoch after the one before it",
        );
      }
      assert.deepEqual(await nodes[0]?.sql("SELECT FROM job"), []);
    } finally {
      for (const node of nodes) await node[Symbol.asyncDispose]();
    }
  });
}
