import process from "node:process";
import { advised, type EnvironmentView, type FileChanges, shorten, z } from "@vis/extension";
import { missingProgramHint } from "./missing_program.ts";
import {
  allowed,
  type CommandEnd,
  type CommandOptions,
  type CommandRights,
  lineOf,
  ONLY_COMMANDS,
  refuseBackground,
  type ShellCommand,
  spawnOptions,
  wallHint,
  watched,
  withCommandHint,
} from "./run.ts";

export interface StartOptions extends Omit<CommandOptions, "stdin"> {
  readonly stdin?: string | true;
  readonly waitMs?: number;
  readonly until?: string;
}

const WAIT_MS = 1_000;
const TIMEOUT_MS = 3_600_000;

export async function start(
  env: EnvironmentView,
  command: ShellCommand,
  options: StartOptions = {},
): Promise<JobReport & { readonly hint?: string }> {
  refuseBackground(env);
  const { waitMs = WAIT_MS, until, timeoutMs = TIMEOUT_MS, stdin, ...others } = options;
  const rest = typeof stdin === "string" ? { ...others, stdin } : others;
  const input = stdin === true ? new JobInput() : null;
  const { spawn, all } = await allowed(env, command, rest);
  const jobs = jobsOf(env);
  const text = lineOf(command);
  const begun = Promise.withResolvers<void>();
  const { network = false, write = [] } = rest;
  const job = jobs.add((id) =>
    new Job({ id, command: text, input, rights: { network, all, isWider: write.length > 0 } }, async (own) => {
      const forget = await remember(env, { id, command: text });
      try {
        const given = { ...spawnOptions({ ...rest, timeoutMs }), ...own, onBegin: begun.resolve };
        const { result, changes } = await watched(env, () => spawn(given), { all, isBackground: true });
        return { ...result, changes };
      } finally {
        begun.resolve();
        await forget();
      }
    })
  );
  // The user may take any time to allow the command, so `waitMs` begins when the command begins.
  if ((await env.programWalls?.())?.unwalled?.mode === "ask") await begun.promise;
  const report = await readJob(env, job.id, { waitMs, ...(until === undefined ? {} : { until }) });
  const walls = await env.programWalls?.();
  const isAlone = walls?.whole === true && walls.loopback && !network;
  return isAlone && report.running && report.hint === undefined && SERVES.test(report.output)
    ? { ...report, hint: ONLY_COMMANDS }
    : report;
}

const SERVES = /\bhttps?:\/\/(?:localhost|127\.|\[::1?\]|0\.0\.0\.0)|\blistening\b/i;

export interface InputOptions extends ReadOutputOptions {
  readonly end?: boolean;
}

export async function writeJob(
  env: EnvironmentView,
  id: string,
  text: string,
  { end = false, waitMs = WAIT_MS, ...options }: InputOptions = {},
): Promise<JobReport & { readonly hint?: string }> {
  jobsOf(env).write(id, text, { end });
  return await readJob(env, id, { waitMs, ...options });
}

export async function readJob(
  env: EnvironmentView,
  id: string,
  options: ReadOutputOptions = {},
): Promise<JobReport & { readonly hint?: string }> {
  const report = await jobsOf(env).read(id, { ...options, signal: env.signal });
  const { loopback } = await env.programWalls?.() ?? {};
  const missing = await missingProgramHint(env, report.output),
    wall = wallHint(env, report.output, {
      ...jobsOf(env).rightsOf(id),
      loopback,
      line: report.command,
      codes: report.codes ?? (report.code === null ? [] : [report.code]),
    });
  const changes = report.changes ?? (report.running ? await changesSoFar(env) : null);
  return withCommandHint({ ...report, ...(changes ? { changes } : {}) }, { missing, wall });
}

async function changesSoFar({ root, watchFiles }: EnvironmentView): Promise<FileChanges | null> {
  const around = root === undefined ? null : await watchFiles?.({ all: true })?.report();
  return around ?? await watchFiles?.()?.report() ?? null;
}

const RUNNING = "running/";

/** A later process of Vis reads this record to report commands that ended with this process. */
async function remember(
  { store, branchId, closed, endsWithQuery = false }: EnvironmentView,
  { id, command }: { readonly id: string; readonly command: string },
): Promise<() => Promise<void>> {
  const key = `${RUNNING}${id}`;
  await store?.put(key, { command: shorten(command, MAX_COMMAND), branchId, pid: process.pid }).catch(() => {});
  return async () => {
    if (endsWithQuery || !closed?.aborted) await store?.delete(key).catch(() => {});
  };
}

const MAX_COMMAND = 80;
const MOST_RUNNING = 8;
const MOST_ENDED = 8;
const Stored = z.object({
  command: z.string(),
  branchId: z.string(),
  pid: z.number().optional(),
});
const ENDED_BEFORE: Ended = {
  ...{ code: 137, signal: "SIGKILL", stdout: "", stderr: "", ms: 0, timedOut: false, truncated: false },
  notes: ["The command ended with an earlier process of Vis, and its output is lost"],
};

function runsElsewhere({ pid }: z.infer<typeof Stored>): boolean {
  if (pid === undefined || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

export class Jobs {
  readonly #jobs = new Map<string, Job>();
  #next = 1;
  #lost: Promise<readonly Job[]> | null = null;

  /** The first call resolves with the commands that ended with an earlier process. Later calls forget these commands
   * and resolve with an empty list. */
  async lost(env: Pick<EnvironmentView, "store" | "branchId">): Promise<readonly Job[]> {
    if (this.#lost === null) return await (this.#lost = this.#findLost(env));
    for (const { id } of await this.#lost) await env.store?.delete(`${RUNNING}${id}`).catch(() => {});
    this.#lost = Promise.resolve([]);
    return [];
  }

  async #findLost({ store, branchId }: Pick<EnvironmentView, "store" | "branchId">): Promise<readonly Job[]> {
    const lost: Job[] = [];
    for (const { key } of await store?.list({ prefix: RUNNING }) ?? []) {
      const found = Stored.safeParse(await store?.get(key)).data;
      if (found?.branchId !== branchId) continue; // A fork has the keys of its origin, but not its commands.
      const id = key.slice(RUNNING.length);
      this.#next = Math.max(this.#next, Number(id.slice(1)) + 1);
      if (runsElsewhere(found)) continue;
      const job = new Job({ id, command: found.command }, () => Promise.resolve(ENDED_BEFORE));
      this.#jobs.set(id, job);
      lost.push(job);
    }
    return lost;
  }

  add(make: (id: string) => Job): Job {
    const running = this.running;
    if (running.length >= MOST_RUNNING) {
      throw advised(
        new Error(`Cannot start another command: ${running.length} commands are running, the limit`),
        `stop one of ${running.map(named).join(", ")}`,
      );
    }
    for (const { id } of [...this.#jobs.values()].filter((job) => !job.running).slice(0, -MOST_ENDED)) {
      this.#jobs.delete(id);
    }
    const job = make(`c${this.#next++}`);
    this.#jobs.set(job.id, job);
    return job;
  }

  get running(): readonly Job[] {
    return [...this.#jobs.values()].filter((job) => job.running);
  }

  get all(): readonly Job[] {
    return [...this.#jobs.values()].filter((job) => !job.failed);
  }

  async read(
    id: string,
    options: ReadOutputOptions & { readonly signal?: AbortSignal | undefined },
  ): Promise<JobReport> {
    return await this.#reported(id, (job) => job.read(options, options.signal));
  }

  rightsOf(id: string): CommandRights {
    return this.#jobs.get(id)?.rights ?? {};
  }

  write(id: string, text: string, options: { readonly end: boolean }): void {
    this.#find(id).write(text, options);
  }

  async stop(id: string): Promise<JobReport> {
    return await this.#reported(id, (job) => job.stop());
  }

  #find(id: string): Job {
    const job = this.#jobs.get(id);
    if (job) return job;
    throw advised(
      new Error(`Cannot find command ${id}: no command has this id`),
      `${this.all.length === 0 ? "shell.list() is empty" : `choose one of ${this.all.map(named).join(", ")}`}`,
    );
  }

  async #reported(id: string, ask: (job: Job) => Promise<JobReport>): Promise<JobReport> {
    const job = this.#find(id);
    try {
      return await ask(job);
    } finally {
      if (job.failed) this.#jobs.delete(id);
    }
  }
}

const UNREAD_BYTES = 1 << 20;

export class JobInput {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | null = null;

  constructor() {
    const start = (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): void => {
      this.#controller = controller;
    };
    const size = new ByteLengthQueuingStrategy({ highWaterMark: UNREAD_BYTES });
    this.stream = new ReadableStream({ start, cancel: () => void (this.#controller = null) }, size);
  }

  write(text: string, cannot: string): void {
    const bytes = new TextEncoder().encode(text);
    if (this.#controller === null) {
      throw advised(new Error(`${cannot}: its input has ended`), "start it again with {stdin: true}");
    }
    if (bytes.length > UNREAD_BYTES) {
      const size = `the text has ${bytes.length} bytes, and the limit is ${UNREAD_BYTES}`;
      throw advised(new Error(`${cannot}: ${size}`), "write it in parts");
    }
    if (bytes.length > (this.#controller.desiredSize ?? 0)) {
      throw advised(
        new Error(`${cannot}: it has not read the earlier input, and Vis keeps at most ${UNREAD_BYTES >> 20} MiB`),
        "write again when it has read more",
      );
    }
    if (bytes.length > 0) this.#controller.enqueue(bytes);
  }

  end(): void {
    this.#controller?.close();
    this.#controller = null;
  }
}

const ALL = new Map<string, Jobs>();

export function jobsOf({ envId, closed }: Pick<EnvironmentView, "envId" | "closed">): Jobs {
  const found = ALL.get(envId);
  if (found) return found;
  const jobs = new Jobs();
  ALL.set(envId, jobs);
  closed?.addEventListener("abort", () => void ALL.delete(envId), { once: true });
  return jobs;
}

export function runningIn(envId: string): readonly Job[] {
  return ALL.get(envId)?.running ?? [];
}

const named = ({ id, command }: Job): string => `${id} (${shorten(command, 60)})`;

type Spawn = NonNullable<EnvironmentView["spawn"]>;
type Ended = Awaited<ReturnType<Spawn>> & Pick<CommandEnd, "codes"> & { readonly changes?: FileChanges | null };
type SpawnOptions = NonNullable<Parameters<Spawn>[1]>;

const KEPT_BYTES = 256 << 10;
const DEFAULT_BYTES = 64 << 10;

export interface ReadOutputOptions {
  readonly waitMs?: number;
  readonly until?: string;
  readonly maxBytes?: number;
}

interface JobReport {
  readonly id: string;
  readonly command: string;
  readonly running: boolean;
  readonly code: number | null;
  readonly codes?: readonly number[];
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly output: string;
  readonly missed: number;
  readonly left: number;
  readonly ms: number;
  readonly notes?: readonly string[];
  readonly changes?: FileChanges;
}

export class Job {
  readonly id: string;
  readonly command: string;
  readonly rights: CommandRights;
  readonly #begun = performance.now();
  readonly #ring = new OutputRing(KEPT_BYTES);
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();
  readonly #done: Promise<void>;
  readonly #input: JobInput | null;
  #read = 0;
  #changes: FileChanges | null = null;
  #ended: Ended | null = null;
  #failed: unknown = null;
  #endedAt = 0;

  constructor(
    { id, command, input = null, rights = {} }: {
      readonly id: string;
      readonly command: string;
      readonly input?: JobInput | null;
      readonly rights?: CommandRights;
    },
    spawn: (options: SpawnOptions) => Promise<Ended>,
  ) {
    this.id = id;
    this.command = command;
    this.rights = rights;
    this.#input = input;
    const running = spawn({
      lifetime: "conversation",
      title: command,
      maxBytes: 4096,
      stop: this.#stop.signal,
      ...(input === null ? {} : { input: input.stream }),
      onOutput: (_output, bytes) => {
        this.#ring.push(bytes);
        this.#wake();
      },
    });
    const ended = (how: Ended): void => {
      this.#ended = how;
      this.#changes = how.changes ?? null;
    };
    this.#done = running.then(ended, (error: unknown) => void (this.#failed = error))
      .finally(() => {
        this.#endedAt = performance.now();
        input?.end();
        this.#wake();
      });
  }

  get running(): boolean {
    return this.#ended === null && this.#failed === null;
  }

  get failed(): boolean {
    return this.#failed !== null;
  }

  async read(
    { waitMs = 0, until, maxBytes = DEFAULT_BYTES }: ReadOutputOptions,
    signal?: AbortSignal,
  ): Promise<JobReport> {
    const enough = (): boolean => {
      if (!this.running) return true;
      if (until === undefined) return this.#ring.from(this.#read, { maxBytes: 8, whole: false }).to > this.#read;
      return this.#ring.from(this.#read, { maxBytes: KEPT_BYTES, whole: false }).text.includes(until);
    };
    await this.#wait(enough, { waitMs, signal });
    return this.#report(maxBytes);
  }

  write(text: string, { end }: { readonly end: boolean }): void {
    const cannot = `Cannot write to ${this.id}`;
    if (this.#ended !== null) throw new Error(`${cannot}: it has ended with code ${this.#ended.code}`);
    if (this.#input === null) {
      throw advised(new Error(`${cannot}: it started without an input`), "start it again with {stdin: true}");
    }
    this.#input.write(text, cannot);
    if (end) this.#input.end();
  }

  async stop(): Promise<JobReport> {
    this.#stop.abort();
    await this.#done;
    return this.#report(DEFAULT_BYTES);
  }

  get brief(): Readonly<{ id: string; command: string; running: boolean; code: number | null; ms: number }> {
    return { id: this.id, command: this.command, running: this.running, code: this.#ended?.code ?? null, ms: this.#ms };
  }

  get #ms(): number {
    return Math.round((this.running ? performance.now() : this.#endedAt) - this.#begun);
  }

  #report(maxBytes: number): JobReport {
    if (this.#failed !== null) throw this.#failed;
    const { text, to, missed } = this.#ring.from(this.#read, { maxBytes, whole: !this.running });
    this.#read = to;
    const { code = null, codes, signal = null, timedOut = false, notes = [] } = this.#ended ?? {};
    const ended = { code, ...(codes ? { codes } : {}), signal, timedOut };
    const facts = { id: this.id, command: this.command, running: this.running, ...ended };
    const report = { ...facts, output: text, missed, left: this.#ring.total - to, ms: this.#ms };
    const changes = this.#changes;
    this.#changes = null;
    return { ...report, ...(notes.length > 0 ? { notes } : {}), ...(changes ? { changes } : {}) };
  }

  async #wait(
    enough: () => boolean,
    { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal | undefined },
  ): Promise<void> {
    if (waitMs === 0 || enough()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => void (enough() && resolve());
    const timer = setTimeout(resolve, waitMs);
    const given = (): void => resolve();
    this.#waiting.add(look);
    signal?.addEventListener("abort", given);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(look);
    signal?.removeEventListener("abort", given);
    signal?.throwIfAborted();
  }

  #wake(): void {
    for (const look of this.#waiting) look();
  }
}

interface OutputPart {
  readonly text: string;
  readonly to: number;
  readonly missed: number;
}

export class OutputRing {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #total = 0;

  constructor(size: number) {
    this.#bytes = new Uint8Array(size);
  }

  get total(): number {
    return this.#total;
  }

  push(chunk: Uint8Array): void {
    const size = this.#bytes.length;
    const kept = chunk.subarray(Math.max(0, chunk.length - size));
    const at = (this.#total + chunk.length - kept.length) % size;
    const first = kept.subarray(0, size - at);
    this.#bytes.set(first, at);
    this.#bytes.set(kept.subarray(first.length), 0);
    this.#total += chunk.length;
  }

  from(place: number, { maxBytes, whole }: { readonly maxBytes: number; readonly whole: boolean }): OutputPart {
    const size = this.#bytes.length;
    let begin = Math.max(place, this.#total - size, 0);
    let end = Math.min(this.#total, begin + maxBytes);
    if (begin > place) { while (begin < end && this.#isContinuation(begin)) begin++; }
    if (end < this.#total || !whole) end = this.#characterEnd(begin, end);
    const bytes = new Uint8Array(end - begin);
    for (let at = 0; at < bytes.length; at++) bytes[at] = this.#at(begin + at);
    return { text: new TextDecoder().decode(bytes), to: end, missed: begin - place };
  }

  #at(place: number): number {
    return this.#bytes[place % this.#bytes.length] ?? 0;
  }

  #isContinuation(place: number): boolean {
    return (this.#at(place) & 0xc0) === 0x80;
  }

  #characterEnd(begin: number, end: number): number {
    for (let lead = end - 1; lead >= begin && lead > end - 4; lead--) {
      if (this.#isContinuation(lead)) continue;
      const byte = this.#at(lead);
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
      // An incomplete character waits for its rest. If the limit is smaller than one character, the read must still
      // advance.
      const isCut = lead + length > end && (lead > begin || end === this.#total);
      return isCut ? lead : end;
    }
    return end;
  }
}
