import { join } from "node:path";
import type { Postgres } from "../../tests/helpers/postgres.ts";
import { eventsUntil } from "../../tests/e2e/helpers/events_until.ts";
import type { Program } from "./programs.ts";
import { cpuSeconds, treeOf } from "./process_tree.ts";
import { type Served, startServed } from "./served.ts";
import type { SlowModel } from "./slow_model.ts";

const CONFIG = { sandbox: { live: 64 }, server: { requestsPerMinute: 1_000_000, burst: 100_000 } };

const WORK = "SELECT pg_database_size(current_database()), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')";

interface ServerWork {
  readonly bytes: number;
  readonly logBytes: number;
  readonly cpuSeconds: number;
}

export interface NodesRig {
  readonly program: Program;
  readonly postgres: Postgres;
  readonly model: SlowModel;
}

export class Nodes implements AsyncDisposable {
  readonly all: Served[] = [];
  readonly #rig: NodesRig;
  readonly #url: string;

  protected constructor(rig: NodesRig, url: string) {
    this.#rig = rig;
    this.#url = url;
  }

  static async start(rig: NodesRig, count: number): Promise<Nodes> {
    const nodes = new Nodes(rig, await rig.postgres.createDatabase());
    for (let at = 0; at < count; at++) await nodes.add();
    return nodes;
  }

  async add(): Promise<void> {
    const { program, model } = this.#rig;
    const env = { VIS_DATABASE_URL: this.#url };
    this.all.push(await startServed(program, { baseUrl: model.baseUrl, config: CONFIG, env }));
  }

  of(at: number): Served {
    const served = this.all[at % this.all.length];
    if (!served) throw new Error("Cannot use the node: it did not start");
    return served;
  }

  get cpuSeconds(): number {
    return this.all.flatMap(({ pid }) => treeOf(pid)).reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  }

  async server(): Promise<ServerWork> {
    const { postgres } = this.#rig;
    const found = await postgres.sql(WORK, this.#url);
    const [bytes = NaN, logBytes = NaN] = found.split("|").map(Number);
    const [pid = ""] = (await Deno.readTextFile(join(postgres.folder, "data/postmaster.pid"))).split("\n");
    return { bytes, logBytes, cpuSeconds: treeOf(Number(pid)).reduce((sum, one) => sum + cpuSeconds(one), 0) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((one) => one[Symbol.asyncDispose]()));
  }
}

export async function begin(
  { conversation, post }: Served,
  key: string,
): Promise<{ readonly id: string; readonly queryId: string; readonly last: string; readonly events: Response }> {
  const id = await conversation();
  const path = `/api/v1/conversations/${id}/messages`;
  const events = await post(path, { request: `Count, key=${key}` }, { accept: "text/event-stream" });
  const [own, others] = events.body?.tee() ?? [];
  const seen = await eventsUntil(new Response(own ?? null), ({ type }) => type === "iteration_started");
  const { data, id: last = "" } = seen.at(-1) ?? {};
  return { id, last, queryId: data?.queryId ?? "", events: new Response(others ?? null) };
}
