import assert from "node:assert/strict";
import type { Launcher } from "../../e2e/_launcher.ts";
import type { Postgres } from "../../helpers/postgres.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import type { Store } from "../../../src/persistence/store/store.ts";
import { Random } from "../world/random.ts";
import { ChaosCluster } from "./chaos_cluster.ts";

/** A client gives a node up after this and asks another one. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 300;

export interface ChaosOptions {
  readonly launcher: Launcher;
  readonly postgres: Postgres;
  readonly nodes: number;
  readonly conversations: number;
  readonly requests: number;
  /** Conversations that are under way at a time. */
  readonly atOnce: number;
  readonly seed: number;
}

export interface ChaosReport {
  /** What was wrong; empty if nothing was. */
  readonly findings: readonly string[];
  readonly answered: number;
  readonly cancelled: number;
  /** Queries that were begun by one node and continued by another. */
  readonly continued: number;
  readonly faults: Readonly<Record<string, number>>;
}

interface Said {
  readonly request: string;
  readonly status: string;
  readonly reason: string;
  readonly answer: string;
  readonly queryId: string;
}

interface Talk {
  readonly conversationId: string;
  /** The branch that it was asked in, and what was asked, in order. */
  readonly said: Said[];
  /** What was asked in a fork of it, after which request. */
  fork: { readonly after: number; readonly answer: string } | null;
}

/** Who wrote each iteration, under which epoch. */
const AUDIT = `
CREATE TABLE audit (query_id text, epoch bigint, writer text);
CREATE FUNCTION audited() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO audit SELECT new.query_state_id, epoch, current_setting('application_name') FROM job
  WHERE query_id = new.query_state_id;
  RETURN NULL;
END $$;
CREATE TRIGGER audited AFTER INSERT OR UPDATE ON iteration FOR EACH ROW EXECUTE FUNCTION audited();`;

/** Clients talk to nodes while nodes, connections and the database server fail; then everything is counted. */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const { launcher, postgres, nodes, conversations, atOnce, seed } = options;
  const random = new Random(seed);
  await using cluster = await ChaosCluster.start(launcher, postgres, nodes);
  await postgres.sql(AUDIT, cluster.url);
  const talks: Talk[] = [];
  let left = conversations;
  const client = async (own: Random): Promise<void> => {
    while (left-- > 0) talks.push(await talk(cluster, own, options.requests));
  };
  const clients = Promise.all(Array.from({ length: atOnce }, (_, at) => client(new Random(seed * 1000 + at))));
  let over = false;
  void clients.finally(() => over = true).catch(() => {});
  while (!over && cluster.ended.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 1_000 + random.below(2_000)));
    if (!over) await cluster.fault(random);
  }
  await clients;
  const sql = "SELECT count(DISTINCT query_id) FROM audit WHERE epoch > 1";
  const continued = Number(await postgres.sql(sql, cluster.url));
  const { printed, left: processes } = await cluster.end();
  await using store = await open(cluster.url);
  const findings = [
    ...cluster.ended,
    ...printed.split("\n").filter((line) => line !== "" && !/^vis(:| ·) /.test(line)).map((line) => `printed: ${line}`),
    ...processes.map(({ pid }) => `process ${pid} was left`),
    ...await stuck(postgres, cluster.url),
    ...(await Promise.all(talks.map((one) => wrongIn(one, store)))).flat(),
  ];
  const all = talks.flatMap(({ said }) => said);
  const odd = all.find(({ status, reason }) => status !== "done" && reason !== "cancelled");
  return {
    findings: odd ? [...findings, `a request ended otherwise: ${JSON.stringify(odd)}`] : findings,
    answered: all.filter(({ status }) => status === "done").length,
    cancelled: all.filter(({ status }) => status !== "done").length,
    continued,
    faults: Object.fromEntries(cluster.faults),
  };
}

async function open(url: string): Promise<Store & AsyncDisposable> {
  const store = await openStore({ path: url });
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}

/** A conversation of one client, which repeats what was cut until it has an answer. */
async function talk(cluster: ChaosCluster, random: Random, requests: number): Promise<Talk> {
  const title = { title: "chaos" };
  const { conversationId } = await until(async () =>
    await (await cluster.ask(random, "/api/v1/conversations", { body: title })).json()
  );
  const path = `/api/v1/conversations/${conversationId}`;
  const done: Talk = { conversationId, said: [], fork: null };
  for (let n = 1; n <= requests; n++) {
    const request = `add ${n}`;
    const asked = send(cluster, random, { path, request, key: `${conversationId} ${n}` });
    const more = random.below(10);
    // Where it was not heard, nothing is said again.
    const quietly = (what: string, body: object) =>
      pause(random.below(250)).then(() => cluster.ask(random, `${path}/${what}`, { body })).then((response) =>
        response.body?.cancel()
      ).catch(() => {});
    const aside = more === 0
      ? quietly("cancel", {})
      : more === 1
      ? quietly("messages", { request: "a note", whenBusy: "steer" })
      : null;
    const { status, reason, answer, queryId } = await asked;
    done.said.push({ request, status, reason, answer, queryId });
    await aside;
  }
  const after = random.below(requests);
  const { queryId = "", status } = done.said[after] ?? {};
  if (status === "done") done.fork = { after, answer: await forked(cluster, random, { path, queryId }) };
  return done;
}

async function forked(
  cluster: ChaosCluster,
  random: Random,
  { path, queryId }: { readonly path: string; readonly queryId: string },
): Promise<string> {
  const { branchId } = await until(async () =>
    await (await cluster.ask(random, `${path}/fork`, { body: { queryId } })).json()
  );
  const of = { path: `/api/v1/conversations/${branchId}`, request: "add fork", key: `fork ${branchId}` };
  return (await send(cluster, random, of)).answer;
}

async function send(
  cluster: ChaosCluster,
  random: Random,
  { path, request, key }: { readonly path: string; readonly request: string; readonly key: string },
): Promise<Said> {
  const headers = { "idempotency-key": key };
  return await until(async () => {
    const response = await cluster.ask(random, `${path}/messages`, { body: { request, whenBusy: "wait" }, headers });
    const result = await response.json();
    if (typeof result.answer !== "string") throw new Error(`${response.status} ${JSON.stringify(result)}`);
    return result;
  });
}

/** Repeats what did not reach its end. */
async function until<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error("late")), PATIENCE_MS);
    try {
      const found = await Promise.race([work(), late.promise]);
      if (found && typeof found === "object" && "status" in found && typeof found.status === "number") {
        throw new Error(JSON.stringify(found));
      }
      return found;
    } catch {
      await pause(PAUSE_MS);
    } finally {
      clearTimeout(timer);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function stuck(postgres: Postgres, url: string): Promise<readonly string[]> {
  const rows = async (sql: string, what: string) =>
    (await postgres.sql(sql, url)).split("\n").filter((line) => line !== "").map((line) => `${what}: ${line}`);
  return [
    ...await rows("SELECT query_id, node_id FROM job", "a request is stuck"),
    ...await rows("SELECT id FROM query_state WHERE status = 'running'", "a query is stuck"),
    ...await rows("SELECT conversation_state_id FROM lease", "a lease is left"),
    ...await rows(
      "SELECT query_id, epoch FROM audit GROUP BY 1, 2 HAVING count(DISTINCT writer) > 1",
      "two nodes wrote under one epoch",
    ),
  ];
}

/** What is not as the client was told, or was not told in order. */
async function wrongIn({ conversationId, said, fork }: Talk, store: Store): Promise<readonly string[]> {
  const findings: string[] = [];
  const check = (what: string, found: unknown, expected: unknown): void => {
    try {
      assert.deepEqual(found, expected);
    } catch {
      findings.push(`${conversationId}: ${what}: ${JSON.stringify(found)} and not ${JSON.stringify(expected)}`);
    }
  };
  const { branchId = "" } = await store.query(said[0]?.queryId ?? "") ?? {};
  const queries = (await store.queries(branchId)).filter(({ text }) => text.startsWith("add "));
  check("requests", queries.map(({ text }) => text), said.map(({ request }) => request));
  for (const [at, { queryId, status, answer }] of said.entries()) {
    check(`request ${at + 1}`, [queries[at]?.queryId, queries[at]?.status, queries[at]?.answer], [
      ...[queryId, status, answer],
    ]);
    if (status !== "done") continue;
    // What was cancelled may have come that far.
    const surely = said.slice(0, at + 1).filter((one) => one.status === "done").map(({ request }) => request.slice(4));
    const words = answer.split("+");
    check(`answer ${at + 1}`, words.filter((word) => surely.includes(word)), surely);
    check(`order of answer ${at + 1}`, words, words.toSorted((a, b) => Number(a) - Number(b)));
    check(`answer ${at + 1} without repetitions`, words.length, new Set(words).size);
  }
  const last = said.findLast(({ status }) => status === "done")?.answer ?? "";
  const versions = await store.variableVersions(branchId, "list", { newest: 1_000 });
  const words = versions.map(({ image }) => image.summary.shape.replace(/\D+(\d+).*/, "$1"));
  check("versions of the variable", words, words.map((_, at) => String(at + 1)));
  check("newest version at least", Number(words.at(-1) ?? 0) >= last.split("+").filter(Boolean).length, true);
  if (fork) check("the fork", fork.answer, `${said[fork.after]?.answer}+fork`);
  return findings;
}
