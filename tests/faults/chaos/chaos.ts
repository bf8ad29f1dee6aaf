import type { Launcher } from "../../e2e/_launcher.ts";
import type { Postgres } from "../../helpers/postgres.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { Random } from "../world/random.ts";
import { ChaosCluster } from "./chaos_cluster.ts";
import { checkRows, checkTalk } from "./chaos_checks.ts";
import { type Invariant, Invariants } from "./invariants.ts";
import { pause, type Talk, talk } from "./talk.ts";

export interface ChaosSize {
  readonly nodes: number;
  readonly conversations: number;
  readonly requests: number;
  readonly atOnce: number;
  readonly seed: number;
}

export interface ChaosOptions extends ChaosSize {
  readonly launcher: Launcher;
  readonly postgres: Postgres;
  readonly told?: (line: string) => void;
}

export interface ChaosReport {
  readonly size: ChaosSize;
  readonly seconds: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
  readonly invariants: readonly Invariant[];
}

const AUDIT = `
CREATE TABLE audit (number bigint GENERATED ALWAYS AS IDENTITY, query_id text, epoch bigint, writer text);
CREATE FUNCTION audited() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO audit (query_id, epoch, writer)
  SELECT new.query_state_id, epoch, current_setting('application_name') FROM job WHERE query_id = new.query_state_id;
  RETURN NULL;
END $$;
CREATE TRIGGER audited AFTER INSERT OR UPDATE ON iteration FOR EACH ROW EXECUTE FUNCTION audited();`;

/** Runs clients against nodes while nodes, connections and the database server fail, and then counts everything. */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const { launcher, postgres, nodes, conversations, requests, atOnce, seed } = options;
  const begun = performance.now();
  await using cluster = await ChaosCluster.start(launcher, postgres, nodes);
  await postgres.sql(AUDIT, cluster.url);
  const talks = await underFaults(cluster, options, async () => {
    return Number(await postgres.sql("SELECT count(*) FROM audit", cluster.url).catch(() => 0));
  });
  const continued = await postgres.sql("SELECT count(DISTINCT query_id) FROM audit WHERE epoch > 1", cluster.url);
  const { printed, left } = await cluster.end();
  const invariants = new Invariants();
  const lines = printed.split("\n").filter((line) => line !== "" && !/^vis(:| ·) /.test(line));
  invariants.list("a node ends only after a kill or SIGTERM, and prints no error", {
    ...{ checked: cluster.started, violations: [...cluster.ended, ...lines] },
  });
  const survivors = left.map(({ pid }) => `process ${pid}`);
  invariants.list("no process outlives its node", { checked: cluster.processes, violations: survivors });
  await checkRows(invariants, (sql) => postgres.sql(sql, cluster.url));
  await using store = await opened(cluster.url);
  for (const one of talks) await checkTalk(invariants, one, store);
  return {
    size: { nodes, conversations, requests, atOnce, seed },
    seconds: Math.round((performance.now() - begun) / 1000),
    faults: Object.fromEntries(cluster.faults),
    counts: countsOf(talks, Number(continued)),
    invariants: invariants.all,
  };
}

async function underFaults(
  cluster: ChaosCluster,
  { conversations, requests, atOnce, seed, told = () => {} }: ChaosOptions,
  writes: () => Promise<number>,
): Promise<readonly Talk[]> {
  const random = new Random(seed);
  const talks: Talk[] = [];
  let left = conversations;
  const client = async (own: Random): Promise<void> => {
    while (left-- > 0) talks.push(await talk(cluster, own, requests));
  };
  const clients = Promise.all(Array.from({ length: atOnce }, (_, at) => client(new Random(seed * 1000 + at))));
  let over = false;
  void clients.finally(() => over = true).catch(() => {});
  while (!over && cluster.ended.length === 0) {
    const before = await writes();
    await pause(1_000 + random.below(2_000));
    // A request ends when four nodes fail under the same step. On a busy machine, faults wait for the steps.
    for (let polls = 0; polls < 60 && !over && await writes() < before + 3 * atOnce; polls++) await pause(500);
    if (over) break;
    const fault = await cluster.fault(random);
    told(`${fault}; ${talks.length} of ${conversations} conversations are over`);
  }
  await clients;
  return talks;
}

function countsOf(talks: readonly Talk[], continued: number): ChaosReport["counts"] {
  const said = talks.flatMap(({ said }) => said);
  const sum = (count: (talk: Talk) => number): number => talks.reduce((all, one) => all + count(one), 0);
  return {
    "requests accepted": said.length,
    "requests answered": said.filter(({ status }) => status === "done").length,
    "requests that ended with a cancellation": said.filter(({ reason }) => reason === "cancelled").length,
    "requests that a client sent again": sum(({ repeated }) => repeated),
    "queries that continued on another node": continued,
    "messages to running queries": sum(({ heard }) => heard.length),
    "cancels": sum(({ cancels }) => cancels),
    "forks": sum(({ fork }) => fork ? 1 : 0),
  };
}

async function opened(url: string) {
  const store = await openStore({ path: url });
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}
