import type { Address } from "../postgres/address.ts";
import { PostgresListener } from "../postgres/listener.ts";
import { toPostgresError } from "../postgres/postgres_error.ts";
import type { PostgresDatabase } from "../postgres/postgres_database.ts";
import type { NodeStore } from "../store/node_store.ts";
import { Commands } from "./commands.ts";
import { EventTable } from "./events.ts";
import { JOB_TIMES, JobQueue, type JobQueueOptions } from "./job_queue.ts";

const CHANNELS = { vis_job: "job", vis_event: "event", vis_command: "command" } as const;

export interface NodeStoreOptions extends Omit<JobQueueOptions, "times"> {
  readonly address: Address;
  readonly times?: Partial<JobQueueOptions["times"]>;
}

/** This process as a node of a PostgreSQL database. */
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

/** Each method, with errors of the database as `StoreError`. */
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
