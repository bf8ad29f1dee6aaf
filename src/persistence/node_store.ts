import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { BusyError } from "../domain/errors.ts";
import { joinBytes } from "../domain/kit/bytes.ts";
import { settledWithin, together } from "../domain/kit/concurrency.ts";
import type { ApprovalQuestion } from "../domain/query/approval.ts";
import type { Database } from "./database.ts";
import type { PostgresDatabase } from "./postgres/postgres_database.ts";
import { ConnectionLost, sqlState, toPostgresError } from "./postgres/postgres_error.ts";
import { type Address, clientConfig } from "./postgres/server.ts";
import { findRequestKey } from "./queries.ts";
import { heldByOther, type IsAlive, isAliveNow } from "./runs.ts";
import type { ClaimedJob, NewJob, NodeCommand, NodeStore, ProcessOwner, SharedEvent, SharedJob } from "./store.ts";

const CHANNELS = { vis_job: "job", vis_event: "event", vis_command: "command" } as const;

interface NodeStoreOptions extends Omit<JobQueueOptions, "times"> {
  readonly address: Address;
  readonly times?: Partial<JobQueueOptions["times"]>;
}

export function openNodeStore(db: PostgresDatabase, { address, times, ...options }: NodeStoreOptions): NodeStore {
  db.held.node = options.node;
  const jobs = new JobQueue(db, { ...options, times: { ...JOB_TIMES, ...times } });
  const events = new EventTable(db);
  const commands = new Commands(db);
  let listener: PostgresListener | null = null;
  return converted(address.shown, {
    join: async (heard) => {
      await jobs.beat();
      listener = new PostgresListener(address, {
        channels: Object.keys(CHANNELS),
        heard: (said) => {
          const about = said && Reflect.get(CHANNELS, said.channel);
          heard(said && { about, queryId: said.payload });
        },
      });
      await listener.start();
    },
    leave: async () => {
      await listener?.close();
      await jobs.leave();
    },
    accept: (job) => jobs.accept(job),
    claim: (most, running) => jobs.claim(most, running),
    request: (queryId) => jobs.request(queryId),
    beat: () => jobs.beat(),
    release: (job, afterMs) => jobs.release(job, afterMs),
    settled: (queryId) => db.held.forget(queryId),
    withdraw: (queryId) => jobs.withdraw(queryId),
    refuse: (job) => jobs.refuse(job),
    drain: () => jobs.drain(),
    giveUp: () => db.giveUp(),
    waiting: () => jobs.waiting(),
    job: (queryId) => jobs.job(queryId),
    runningJob: (branchId) => jobs.running(branchId),
    jobs: (conversationId) => jobs.jobs(conversationId),
    setQuestions: (job, questions) => jobs.setQuestions(job, questions),
    publish: (all) => events.publish(all),
    eventsAfter: (queryId, number) => events.after(queryId, number),
    eventRange: (queryId) => events.range(queryId),
    trim: async (olderMs) => {
      await events.trim(olderMs);
      await commands.trim(olderMs);
      await jobs.trim(olderMs);
    },
    send: (command) => commands.send(command),
    commands: (queryIds) => commands.pending(queryIds),
    settle: (command, done) => commands.settle(command, done),
    outcome: (id) => commands.outcome(id),
  });
}

function converted(location: string, nodes: NodeStore): NodeStore {
  const methods: [string, (...args: never[]) => unknown][] = Object.entries(nodes);
  const guarded = methods.map(([name, method]) => {
    const work = (...args: never[]): unknown => {
      const result = method(...args);
      if (!(result instanceof Promise)) return result;
      return result.catch((error: unknown) => {
        throw toPostgresError(error, location);
      });
    };
    return [name, work];
  });
  return Object.fromEntries(guarded) as unknown as NodeStore;
}

export interface JobTimes {
  readonly leaseMs: number;
  /** A request waits at most this time for the last node that ran its branch. */
  readonly graceMs: number;
  /** For this time after a run, the node probably still has the sandbox process of the branch. */
  readonly warmMs: number;
}

const JOB_TIMES: JobTimes = { leaseMs: 6_000, graceMs: 200, warmMs: 600_000 };

interface JobQueueOptions {
  readonly node: string;
  readonly now: () => number;
  readonly isAlive: IsAlive;
  readonly times: JobTimes;
}

const UNIQUE = "23505";
const PIECE_BYTES = 1 << 20;

class JobQueue {
  readonly #db: PostgresDatabase;
  readonly #options: JobQueueOptions;

  constructor(db: PostgresDatabase, options: JobQueueOptions) {
    this.#db = db;
    this.#options = options;
  }

  accept({ queryId, branchId, request, requestKey, refuseWhenBusy }: NewJob): Promise<void> {
    const { now } = this.#options;
    const { key = null, fingerprint = null, replaces = null } = requestKey ?? {};
    return this.#db.write(async (tx) => {
      // Calls for the same branch wait here, so that a later call sees the job of an earlier call.
      if (refuseWhenBusy || key !== null) await tx.lock(`job ${branchId}`);
      const [jobs, holder, known] = await together([
        refuseWhenBusy ? tx.run("SELECT query_id FROM job WHERE conversation_state_id = $1 LIMIT 1", [branchId]) : [],
        this.#otherHolder(tx, branchId),
        key === null ? null : findRequestKey(tx, { branchId, key, now: now() }),
      ]);
      if (jobs.length > 0) {
        throw new BusyError(
          `Cannot start the request: another request of branch ${branchId} runs or waits; wait until it ends, or cancel it`,
        );
      }
      if (holder !== null) throw heldByOther(holder);
      if (known !== null && known.queryId !== replaces) {
        throw new BusyError(
          `Cannot start the request: request ${known.queryId} already uses the same key (${key}); send the ` +
            "request again to get that answer, or use another key",
        );
      }
      await tx.store(ACCEPT, [queryId, branchId, request, key, fingerprint]);
    });
  }

  /** Resolves with the live process that is no node and runs a query of the branch. */
  async #otherHolder(tx: Database, branchId: string): Promise<ProcessOwner | null> {
    const { now, isAlive } = this.#options;
    const [owner] = await tx.run(OTHER_HOLDER, [branchId]) as readonly unknown[] as readonly ProcessOwner[];
    return owner && await isAliveNow(tx, { owner, isAlive, now: now() }) ? owner : null;
  }

  async claim(most: number, running: readonly string[]): Promise<readonly ClaimedJob[]> {
    const { node, times: { leaseMs, graceMs, warmMs } } = this.#options;
    try {
      const rows = await this.#rows<
        Omit<ClaimedJob, "begun" | "lost"> & { readonly begun: number; readonly lost: number }
      >(
        CLAIM,
        [node, most, [...running], leaseMs, graceMs, warmMs, PIECE_BYTES],
      );
      for (const { queryId, epoch } of rows) this.#db.held.take(queryId, epoch);
      return rows.map((row) => ({ ...row, begun: Boolean(row.begun), lost: Boolean(row.lost) }));
    } catch (error) {
      if (sqlState(error) === UNIQUE) return [];
      throw error;
    }
  }

  async request(queryId: string): Promise<Uint8Array<ArrayBuffer>> {
    const pieces: Uint8Array[] = [];
    for (let from = 1;; from += PIECE_BYTES) {
      const [row] = await this.#rows<{ readonly piece: Uint8Array }>(
        "SELECT substring(request FROM $2::int FOR $3::int) AS piece FROM job WHERE query_id = $1",
        [queryId, from, PIECE_BYTES],
      );
      if (row) pieces.push(row.piece);
      if (row?.piece.length !== PIECE_BYTES) return joinBytes(pieces);
    }
  }

  async beat(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#rows<{ readonly queryId: string; readonly epoch: number }>(
      `WITH beat AS (
         INSERT INTO node AS n (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET heartbeat_at = clock_timestamp(),
           since = CASE WHEN n.heartbeat_at > clock_timestamp() - $2 * interval '1 millisecond' THEN n.since
             ELSE clock_timestamp() END
       ) SELECT query_id, epoch FROM job WHERE node_id = $1`,
      [this.#options.node, this.#options.times.leaseMs],
    );
    return new Map(rows.map(({ queryId, epoch }) => [queryId, epoch]));
  }

  async release({ queryId, epoch }: Pick<ClaimedJob, "queryId" | "epoch">, afterMs = 0): Promise<void> {
    await this.#rows(
      `WITH released AS (
         UPDATE job SET node_id = NULL, ready_at = clock_timestamp() + $4 * interval '1 millisecond'
         WHERE query_id = $1 AND node_id = $2 AND epoch = $3 RETURNING query_id
       ) SELECT pg_notify('vis_job', '') FROM released WHERE $4 = 0`,
      [queryId, this.#options.node, epoch, afterMs],
    );
  }

  async withdraw(queryId: string): Promise<boolean> {
    const rows = await this.#rows(
      `WITH withdrawn AS (DELETE FROM job WHERE query_id = $1 AND node_id IS NULL AND epoch = 0 RETURNING query_id)
       SELECT pg_notify('vis_command', query_id), pg_notify('vis_job', '') FROM withdrawn`,
      [queryId],
    );
    return rows.length > 0;
  }

  async refuse({ queryId, epoch }: Pick<ClaimedJob, "queryId" | "epoch">): Promise<void> {
    await this.#rows(
      `DELETE FROM job WHERE query_id = $1 AND node_id = $2 AND epoch = $3
       AND NOT EXISTS (SELECT FROM query_state WHERE id = $1)`,
      [queryId, this.#options.node, epoch],
    );
  }

  async drain(): Promise<boolean> {
    const rows = await this.#rows(
      `WITH own AS (UPDATE node SET draining = true WHERE id = $1)
       SELECT FROM node WHERE id <> $1 AND NOT draining
         AND heartbeat_at > clock_timestamp() - $2 * interval '1 millisecond' LIMIT 1`,
      [this.#options.node, this.#options.times.leaseMs],
    );
    return rows.length > 0;
  }

  async leave(): Promise<void> {
    await this.#rows("DELETE FROM node WHERE id = $1", [this.#options.node]);
  }

  async trim(olderMs: number): Promise<void> {
    await this.#rows(
      `WITH gone AS (DELETE FROM node WHERE heartbeat_at < clock_timestamp() - $1 * interval '1 millisecond')
       DELETE FROM warm WHERE used_at < clock_timestamp() - $1 * interval '1 millisecond'`,
      [olderMs],
    );
  }

  async waiting(): ReturnType<NodeStore["waiting"]> {
    const [row] = await this.#rows<{ readonly depth: number; readonly oldestMs: number }>(
      `SELECT count(*) AS depth,
         coalesce(extract(epoch FROM clock_timestamp() - min(accepted_at)) * 1000, 0) AS oldest_ms
       FROM job WHERE node_id IS NULL`,
      [],
    );
    return row ?? { depth: 0, oldestMs: 0 };
  }

  async job(queryId: string): Promise<SharedJob | null> {
    return (await this.#shared("j.query_id = $1", queryId))[0] ?? null;
  }

  async running(branchId: string): Promise<string | null> {
    const sql = "SELECT query_id FROM job WHERE conversation_state_id = $1 AND node_id IS NOT NULL";
    return (await this.#rows<{ readonly queryId: string }>(sql, [branchId]))[0]?.queryId ?? null;
  }

  async jobs(conversationId: string): Promise<readonly SharedJob[]> {
    return await this.#shared("b.conversation_soul_id = $1", conversationId);
  }

  async setQuestions(
    { queryId, epoch }: Pick<ClaimedJob, "queryId" | "epoch">,
    questions: readonly ApprovalQuestion[],
  ): Promise<void> {
    await this.#rows(
      `UPDATE job SET questions = $4,
         held_ms = held_ms + coalesce(extract(epoch FROM clock_timestamp() - asked_at) * 1000, 0),
         asked_at = CASE WHEN $4 = '[]' THEN NULL ELSE clock_timestamp() END
       WHERE query_id = $1 AND node_id = $2 AND epoch = $3`,
      [queryId, this.#options.node, epoch, JSON.stringify(questions)],
    );
  }

  async #shared(where: string, id: string): Promise<readonly SharedJob[]> {
    const rows = await this.#rows<SharedJob & { readonly questions: string }>(
      `SELECT j.query_id, j.conversation_state_id AS branch_id, j.epoch, j.questions FROM job j
       JOIN conversation_state b ON b.id = j.conversation_state_id WHERE ${where} ORDER BY j.number`,
      [id],
    );
    return rows.map((row) => ({ ...row, questions: JSON.parse(row.questions) }));
  }

  async #rows<T>(text: string, values: readonly unknown[]): Promise<readonly T[]> {
    return await this.#db.run(text, values) as readonly T[];
  }
}

const OTHER_HOLDER = `SELECT host, space, pid, started, session FROM lease l WHERE conversation_state_id = $1
AND NOT EXISTS (
  SELECT FROM job j JOIN query_state s ON s.id = j.query_id
  WHERE j.conversation_state_id = l.conversation_state_id AND s.status = 'running'
)`;

const ACCEPT = `INSERT INTO job (query_id, conversation_state_id, request, request_key, fingerprint)
SELECT $1, $2, $3::bytea, $4, $5 FROM pg_notify('vis_job', '')`;

/** A node decides which nodes are lost only after a time of regular heartbeats, because the database server itself may
 * have been away. */
const CLAIM = `
WITH live AS (
  SELECT id, draining, since FROM node WHERE heartbeat_at > clock_timestamp() - $4 * interval '1 millisecond'
), ready AS (
  SELECT j.query_id, j.node_id FROM job j
  WHERE j.conversation_state_id <> ALL ($3::text[]) AND EXISTS (SELECT FROM live WHERE id = $1 AND NOT draining)
    AND CASE
      WHEN j.node_id IS NOT NULL THEN j.node_id NOT IN (SELECT id FROM live) AND EXISTS (
        SELECT FROM live WHERE id = $1 AND since < clock_timestamp() - $4 * interval '1 millisecond'
      )
      ELSE j.ready_at <= clock_timestamp() AND NOT EXISTS (
        SELECT FROM job o WHERE o.conversation_state_id = j.conversation_state_id AND o.query_id <> j.query_id
          AND (o.node_id IS NOT NULL OR o.number < j.number)
      ) AND (j.ready_at < clock_timestamp() - $5 * interval '1 millisecond' OR NOT EXISTS (
        SELECT FROM warm w JOIN live l ON l.id = w.node_id AND NOT l.draining
        WHERE w.conversation_state_id = j.conversation_state_id AND w.node_id <> $1
          AND w.used_at > clock_timestamp() - $6 * interval '1 millisecond'
      ))
    END
  ORDER BY j.number LIMIT $2 FOR UPDATE OF j SKIP LOCKED
)
UPDATE job SET node_id = $1, epoch = job.epoch + 1, begun_at = coalesce(job.begun_at, clock_timestamp()),
  losses = CASE WHEN ready.node_id IS NULL THEN job.losses WHEN ended.n > job.lost_after THEN 1
    ELSE job.losses + 1 END,
  lost_after = CASE WHEN ready.node_id IS NULL THEN job.lost_after ELSE ended.n END,
  held_ms = job.held_ms + coalesce(extract(epoch FROM clock_timestamp() - job.asked_at) * 1000, 0),
  asked_at = NULL, questions = '[]'
FROM ready, LATERAL (
  SELECT count(*) AS n FROM iteration i
  WHERE ready.node_id IS NOT NULL AND i.query_state_id = ready.query_id AND i.status IN ('done', 'error')
) ended
WHERE job.query_id = ready.query_id
RETURNING job.query_id, job.conversation_state_id AS branch_id, job.epoch,
  CASE WHEN octet_length(job.request) <= $7 THEN job.request END AS request, job.losses,
  ready.node_id IS NOT NULL AS lost, EXISTS (SELECT FROM query_state s WHERE s.id = job.query_id) AS begun,
  greatest(0, extract(epoch FROM clock_timestamp() - job.begun_at) * 1000 - job.held_ms) AS elapsed_ms`;

class Commands {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async send({ id, queryId, kind, body }: NodeCommand): Promise<boolean> {
    const rows = await this.#db.run(
      `WITH held AS (SELECT query_id FROM job WHERE query_id = $2 FOR KEY SHARE), sent AS (
         INSERT INTO command (id, query_id, kind, body) SELECT $1, query_id, $3, $4 FROM held
         ON CONFLICT DO NOTHING RETURNING query_id
       ) SELECT pg_notify('vis_command', query_id) FROM sent`,
      [id, queryId, kind, body],
    );
    return rows.length > 0;
  }

  async pending(queryIds: readonly string[]): Promise<readonly NodeCommand[]> {
    const rows = await this.#db.run(
      "SELECT id, query_id, kind, body FROM command WHERE query_id = ANY ($1) AND done IS NULL ORDER BY number",
      [[...queryIds]],
    );
    return rows as unknown as readonly NodeCommand[];
  }

  async trim(olderMs: number): Promise<void> {
    await this.#db.run(
      `DELETE FROM command c WHERE created_at < clock_timestamp() - $1 * interval '1 millisecond'
       AND NOT EXISTS (SELECT FROM job j WHERE j.query_id = c.query_id)`,
      [olderMs],
    );
  }

  async settle({ id, queryId }: Pick<NodeCommand, "id" | "queryId">, done: boolean): Promise<void> {
    await this.#db.run(
      `WITH settled AS (UPDATE command SET done = ($2::int = 1) WHERE id = $1 AND done IS NULL RETURNING id)
       SELECT pg_notify('vis_command', $3) FROM settled`,
      [id, done ? 1 : 0, queryId],
    );
  }

  async outcome(id: string): Promise<boolean | null> {
    const [row] = await this.#db.run(
      "SELECT done, EXISTS (SELECT FROM job j WHERE j.query_id = c.query_id) AS runs FROM command c WHERE id = $1",
      [id],
    );
    if (row === undefined || (row["done"] === null && !row["runs"])) return false;
    return row["done"] === null ? null : Boolean(row["done"]);
  }
}

class EventTable {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async publish(events: readonly SharedEvent[]): Promise<void> {
    await this.#db.run(
      `WITH put AS (
         INSERT INTO event (query_id, number, body) SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])
         ON CONFLICT DO NOTHING RETURNING query_id
       ) SELECT pg_notify('vis_event', query_id) FROM (SELECT DISTINCT query_id FROM put) one`,
      [events.map(({ queryId }) => queryId), events.map(({ number }) => number), events.map(({ body }) => body)],
    );
  }

  async after(queryId: string, number: number): Promise<readonly SharedEvent[]> {
    const rows = await this.#db.run(
      "SELECT query_id, number, body FROM event WHERE query_id = $1 AND number > $2 ORDER BY number LIMIT 500",
      [queryId, number],
    );
    return rows as unknown as readonly SharedEvent[];
  }

  async range(queryId: string): ReturnType<NodeStore["eventRange"]> {
    const [row] = await this.#db.run(
      "SELECT min(number) AS oldest, max(number) AS newest FROM event WHERE query_id = $1",
      [queryId],
    );
    const { oldest = null, newest = null } = row ?? {};
    return oldest === null || newest === null ? null : { oldest: Number(oldest), newest: Number(newest) };
  }

  async trim(olderMs: number): Promise<void> {
    await this.#db.run("DELETE FROM event WHERE created_at < clock_timestamp() - $1 * interval '1 millisecond'", [
      olderMs,
    ]);
  }
}

const AGAIN_MS = 250;
const LOOK_MS = 10_000, ANSWER_MS = 5_000;
const END_MS = 500;

interface Client {
  readonly connection: { readonly stream: { destroy(): void } };
  connect(): Promise<void>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
  on(event: "error" | "end", listener: () => void): void;
  on(event: "notification", listener: (said: { readonly channel: string; readonly payload?: string }) => void): void;
}

type Heard = (said: { readonly channel: string; readonly payload: string } | null) => void;

interface PostgresListenerOptions {
  readonly channels: readonly string[];
  readonly heard: Heard;
  readonly lookMs?: number;
  readonly answerMs?: number;
}

export class PostgresListener {
  readonly #address: Address;
  readonly #options: Required<PostgresListenerOptions>;
  readonly #closed = new AbortController();
  #client: Client | null = null;

  constructor(address: Address, { lookMs = LOOK_MS, answerMs = ANSWER_MS, ...options }: PostgresListenerOptions) {
    this.#address = address;
    this.#options = { ...options, lookMs, answerMs };
  }

  async start(): Promise<void> {
    const { channels, heard } = this.#options;
    const client: Client = new pg.Client(clientConfig(this.#address));
    const ended = new AbortController();
    client.on("error", () => ended.abort());
    client.on("end", () => ended.abort());
    client.on("notification", ({ channel, payload = "" }) => heard({ channel, payload }));
    try {
      await client.connect();
      await this.#ask(client, channels.map((channel) => `LISTEN ${channel}`).join(";"));
      this.#closed.signal.throwIfAborted();
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
    this.#client = client;
    void this.#stay(client, ended.signal);
    heard(null);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const client = this.#client;
    if (client && !await settledWithin(client.end(), END_MS)) client.connection.stream.destroy();
  }

  async #stay(client: Client, ended: AbortSignal): Promise<void> {
    const over = AbortSignal.any([ended, this.#closed.signal]);
    while (!over.aborted) {
      await sleep(this.#options.lookMs, undefined, { signal: over }).catch(() => {});
      if (!over.aborted) await this.#ask(client, "SELECT 1").catch(() => client.connection.stream.destroy());
    }
    this.#client = null;
    while (!this.#closed.signal.aborted) {
      await sleep(AGAIN_MS, undefined, { signal: this.#closed.signal }).catch(() => {});
      if (!this.#closed.signal.aborted && await this.start().then(() => true, () => false)) return;
    }
  }

  async #ask(client: Client, text: string): Promise<void> {
    const answer = client.query(text);
    if (!await settledWithin(answer, this.#options.answerMs)) {
      throw new ConnectionLost(
        `Cannot listen for events: PostgreSQL did not answer within ${this.#options.answerMs} ms`,
      );
    }
    await answer;
  }
}
