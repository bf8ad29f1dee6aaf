import { isAbsolute, join } from "node:path";
import { ConfigError, fileFault, messageOf, reasonOf, SandboxEnded } from "../../domain/errors.ts";
import { parseNetGrant, REALM_GLOBALS } from "../../domain/sandbox_grants.ts";
import { Semaphore } from "../../domain/kit/concurrency.ts";
import { failedBlock, type FormerResults } from "../../domain/query/host_call.ts";
import type { VariableImage } from "../../domain/query/variable.ts";
import { timedOut } from "../child/blocks/sentences.ts";
import { ALL_WALLS, type ChildAccess, type Setup, type WallSwitches } from "../child/setup.ts";
import { CodecError, encode } from "../codec/codec.ts";
import type { GrantedPath } from "../confine/access.ts";
import {
  type ChildProgram,
  childProgram,
  endFirstChild,
  type FirstChild,
  launched,
  startChild,
  takeFirstChild,
  WorkFolder,
} from "../launch.ts";
import {
  type Bytes,
  type Frame,
  FrameFields,
  type Header,
  imageParts,
  MAX_OUTPUT_BYTES,
  MAX_PAYLOAD_BYTES,
  OUTPUT_FRAMES_PER_SECOND,
  PROTOCOL_VERSION,
  ProtocolError,
} from "../protocol.ts";
import {
  bareReport,
  type BlockRun,
  type RenderOptions,
  type RenderReport,
  type RunReport,
  type Sandbox,
  type SandboxOptions,
  type VariableRestoreReport,
  type Walls,
} from "../sandbox.ts";
import { CallRegistry } from "./_call_registry.ts";
import {
  type ChildExit,
  ChildLink,
  cleanText,
  declaredNames,
  Heartbeat,
  type Observed,
  readPresent,
  readReady,
  readRenderReport,
  readRestoreReports,
  readRunReport,
  readValue,
  REQUEST_MS,
  Requests,
} from "./_child_link.ts";

export interface SandboxTestOptions {
  readonly walls?: Partial<WallSwitches>;
  readonly folderRoot?: string;
  readonly program?: ChildProgram;
  readonly startMs?: number;
}

/** Starting a child keeps a processor busy, so starting more than one child per core would only delay all starts. */
const slots = new Semaphore(navigator.hardwareConcurrency, () => new SandboxEnded("the caller stopped waiting for it"));

/** The caller owns the child and must `close` it. */
export function openSandbox(options: SandboxOptions, test: SandboxTestOptions = {}): Promise<Sandbox> {
  return slots.run(async () => {
    const walls: WallSwitches = { ...ALL_WALLS, ...test.walls };
    const { limits: { memoryBytes, outputBytes, previewChars }, launcher = [] } = options;
    const access = resolveGrants(options);
    const setup: Setup = {
      version: PROTOCOL_VERSION,
      walls,
      parentPid: launcher.length > 0 ? 0 : Deno.pid,
      memoryBytes,
      outputBytes,
      previewChars,
      functions: options.functions,
      untimed: options.untimed ?? [],
      misnamed: options.misnamed ?? {},
      access,
    };
    const own = test.program ?? childProgram({ memoryBytes, allPermissions: !walls.permissions, access });
    const swept = WorkFolder.sweep(test.folderRoot);
    const child = launcher.length > 0 || test.program ? null : takeFirstChild();
    if (child === null) endFirstChild();
    const sandbox = new ConfinedSandbox({
      sandbox: options,
      setup,
      ...test.startMs === undefined ? {} : { startMs: test.startMs },
      ...child ? adopted(child) : started(launched(own, launcher), test.folderRoot),
    });
    await sandbox.start();
    await swept;
    return sandbox;
  }, options.signal);
}

type Started = Pick<ConfinedSandboxOptions, "process" | "folder">;

function adopted({ process, folder }: FirstChild): Started {
  return { process, folder: new WorkFolder({ made: folder }) };
}

function started(program: ChildProgram, root: string | undefined): Started {
  const folder = new WorkFolder({ root });
  try {
    return { process: startChild(program, folder.path), folder };
  } catch (error) {
    folder.remove(); // A missing program throws here, before the folder has an owner.
    throw error;
  }
}

/** Throws ConfigError if `sandbox.launcher` does not begin with the absolute path of a file, or if Vis refuses a grant
 * of an extension. */
export function checkStart(
  { granted = [], launcher = [], workspace }: Partial<Pick<SandboxOptions, "granted" | "launcher" | "workspace">>,
): void {
  const [program] = launcher;
  const fault = program === undefined ? "" : isAbsolute(program) ? missingFile(program) : "it is not an absolute path";
  if (fault !== "") {
    throw new ConfigError(`Cannot run ${program}, the first word of sandbox.launcher: ${fault}`, {
      advice: "correct this setting",
    });
  }
  for (const { namespace, grants } of granted) {
    try {
      resolveGrants({ grants, launcher, ...workspace === undefined ? {} : { workspace } });
    } catch (error) {
      throw new ConfigError(`Cannot use extension ${namespace}: Vis refuses a grant (${reasonOf(error)})`, {
        advice: `add it to the setting extensions.deny to start Vis without it`,
        cause: error,
      });
    }
  }
}

function missingFile(path: string): string {
  try {
    return Deno.statSync(path).isFile ? "" : "it is not a file";
  } catch (error) {
    return fileFault(error);
  }
}

type GrantOptions = Pick<SandboxOptions, "grants" | "globals" | "workspace" | "environment" | "launcher">;

const MACHINE = ["/proc", "/sys", "/dev"];
const KINDS = new Set(Object.values<string>(REALM_GLOBALS));
const VARIABLE = /^[A-Za-z_]\w*$/;

function resolveGrants(
  { grants, globals = [], workspace = "", environment = {}, launcher = [] }: GrantOptions,
): ChildAccess {
  for (const [kind, names] of Object.entries(grants)) {
    if (!KINDS.has(kind) && names.length > 0) {
      throw new Error(
        `Cannot apply the grant ${kind} (${names.join(", ")}): the sandbox does not know it; choose one of ${
          [...KINDS].join(", ")
        }`,
      );
    }
  }
  for (const name of globals) {
    const kind = Object.hasOwn(REALM_GLOBALS, name) ? REALM_GLOBALS[name] : undefined;
    if (!kind) throw new Error(`Cannot give the sandbox the global ${name}: no such global exists`);
    if (grants[kind].length === 0) {
      throw new Error(`Cannot give the sandbox ${name}: no grant for ${kind} exists; declare this grant too`);
    }
  }
  const paths = [...grants.read, ...grants.write];
  if (launcher.length > 0 && paths.length > 0) {
    throw new Error(
      `Cannot give the sandbox access to ${paths.join(", ")}: the launcher ${
        launcher.join(" ")
      } may run it on another ` +
        "machine; unset sandbox.launcher, or deny the extension that declares the grant",
    );
  }
  const net = grants.net.map(parseNetGrant);
  return {
    net: net.map(({ host, port }) => host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`),
    ports: [...new Set(net.map(({ port }) => port))],
    read: grants.read.map((path) => realPath("read", { path, workspace })),
    write: grants.write.map((path) => realPath("write", { path, workspace })),
    env: grants.env.map((name) => {
      if (!VARIABLE.test(name)) {
        throw new Error(
          `Cannot give the sandbox the environment variable ${name}: its name must begin with a letter or _, and ` +
            "contain only letters, digits and _",
        );
      }
      return { name, value: (Object.hasOwn(environment, name) ? environment[name] : null) ?? null };
    }),
    globals: [...globals],
    workspace,
  };
}

function realPath(
  kind: "read" | "write",
  { path, workspace }: { readonly path: string; readonly workspace: string },
): GrantedPath {
  const refuse = (why: string): never => {
    throw new Error(`Cannot grant the sandbox ${kind} access to ${path}: the path ${why}`);
  };
  if (path === "") refuse("is empty");
  if (!isAbsolute(path) && workspace === "") refuse("is not absolute, and there is no workspace");
  try {
    const real = Deno.realPathSync(isAbsolute(path) ? path : join(workspace, path));
    const over = (a: string, b: string): boolean => b === a || b.startsWith(a === "/" ? a : `${a}/`);
    if (MACHINE.some((folder) => over(real, folder) || over(folder, real))) {
      refuse("contains or is part of /proc, /sys or /dev");
    }
    const { isFile, isDirectory } = Deno.statSync(real);
    if (!isFile && !isDirectory) refuse("is neither a file nor a folder");
    return { path: real, folder: isDirectory };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) refuse("does not exist");
    if (error instanceof Deno.errors.PermissionDenied) refuse(`cannot be reached (${fileFault(error)})`);
    throw error;
  }
}

const START_MS = 30_000;
/** The child acknowledges larger values, so that only a bounded number of bytes waits. */
const QUIET_BYTES = 16 << 10;

interface ConfinedSandboxOptions {
  readonly sandbox: SandboxOptions;
  readonly setup: Setup;
  readonly process: Deno.ChildProcess;
  readonly folder: WorkFolder;
  readonly startMs?: number;
}

class ConfinedSandbox implements Sandbox {
  readonly #options: SandboxOptions;
  readonly #setup: Setup;
  readonly #folder: WorkFolder;
  readonly #startMs: number;
  readonly #link: ChildLink;
  readonly #calls: CallRegistry;
  readonly #requests: Requests;
  readonly #ready = Promise.withResolvers<void>();
  readonly #onAbort = (): void => this.#link.kill("the caller stopped waiting for it");
  #heartbeat: Heartbeat | null = null;
  #walls: Walls | null = null;
  #active: ActiveRun | null = null;
  #rests = true;
  #exit: ChildExit | null = null;

  constructor({ sandbox, setup, process, folder, startMs = START_MS }: ConfinedSandboxOptions) {
    this.#options = sandbox;
    this.#setup = setup;
    this.#folder = folder;
    this.#startMs = startMs;
    const { functions, untimed = [], onCall } = sandbox;
    this.#calls = new CallRegistry({
      functions,
      untimed,
      onCall,
      send: (header, payload) => this.#link.send(header, payload),
    });
    this.#link = new ChildLink({
      process,
      onFrame: (frame) => this.#receive(frame),
      mayRead: () => this.#calls.room(),
      onEnd: (exit) => this.#onEnd(exit),
    });
    this.#requests = new Requests(this.#link, { memoryBytes: sandbox.limits.memoryBytes });
    sandbox.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get pid(): number {
    return this.#link.pid;
  }

  get walls(): Walls {
    return this.#walls!; // `start` sets the walls before any other code has this object.
  }

  get ended(): boolean {
    return this.#exit !== null;
  }

  async start(): Promise<void> {
    const late = `it was not ready within ${this.#startMs / 1000} s`;
    const timer = setTimeout(() => this.#link.kill(late), this.#startMs);
    try {
      this.#link.send({ t: "setup", ...this.#setup }, encode(this.#options.constants, { maxBytes: MAX_PAYLOAD_BYTES }));
      if (this.#options.signal?.aborted) this.#onAbort();
      await this.#ready.promise;
      await this.#loadModules();
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      clearTimeout(timer);
    }
    this.#heartbeat = new Heartbeat({
      send: (header) => this.#link.send(header),
      isIdle: () => this.#active === null && this.#requests.idle,
      onDead: () => this.#link.kill("it no longer answers"),
    });
  }

  get gone(): Promise<unknown> {
    return this.#link.ended;
  }

  async #loadModules(): Promise<void> {
    if (Object.keys(this.#options.modules ?? {}).length > 0) this.#rests = false;
    await loadModules(this.#options, async (header, payload) => {
      const answer = await this.#requests.ask(header, payload);
      return this.#read(() => readValue(answer));
    });
  }

  async run(block: BlockRun): Promise<RunReport> {
    if (this.#active) return refusedRun("Cannot run a block: another block is running");
    let code: Bytes;
    try {
      code = encode(block.code, { maxBytes: MAX_PAYLOAD_BYTES });
    } catch {
      return refusedRun(`Cannot run a block: it is larger than ${MAX_PAYLOAD_BYTES} bytes, the limit`, "; split it");
    }
    const { id, answer } = this.#requests.begin();
    const active = this.#activate(id, block);
    this.#rests = false;
    try {
      const { iteration, index, deadlineMs } = block;
      this.#link.send({ t: "run", id, iteration, index, deadlineMs }, code);
      if (block.signal?.aborted) this.#link.send({ t: "cancel", id });
      const answered = await answer;
      this.#rests = answered.header["rests"] === true;
      await active.abortedEnd();
      return this.#read(() => readRunReport(answered, active.observed));
    } catch {
      // The child has ended, or Vis killed it for its messages. Waiting for the end lets later callers see the end.
      return active.failed(await this.#link.ended, declaredNames(block.code));
    } finally {
      active.end();
      this.#calls.endRun(id);
      this.#active = null;
    }
  }

  async render(template: string, { deadlineMs, json = false }: RenderOptions): Promise<RenderReport> {
    const payload = encode(template, { maxBytes: MAX_PAYLOAD_BYTES });
    const answered = await this.#requests.ask({ t: "render", deadlineMs, json }, payload, {
      ms: deadlineMs + REQUEST_MS,
    });
    return this.#read(() => readRenderReport(answered));
  }

  async restore(images: readonly VariableImage[]): Promise<readonly VariableRestoreReport[]> {
    this.#rests = false;
    const { id, answer } = this.#requests.begin();
    const parts = imageParts(images).map((part) => encode(part, { maxBytes: MAX_PAYLOAD_BYTES }));
    const code = images.some(({ kind }) => kind === "function" || kind === "class");
    parts.forEach((part, i) => this.#link.send({ t: "restore", id, code, more: i < parts.length - 1 }, part));
    const answered = await this.#requests.within(answer);
    return this.#read(() => readRestoreReports(answered));
  }

  async restoreResults(results: FormerResults): Promise<void> {
    const payload = encode(results, { maxBytes: MAX_PAYLOAD_BYTES });
    const answer = await this.#requests.ask({ t: "results" }, payload);
    this.#read(() => readValue(answer));
  }

  async bind(...[name, value, options = {}]: Parameters<Sandbox["bind"]>): Promise<void> {
    const payload = encode(value, { maxBytes: MAX_PAYLOAD_BYTES });
    const header = { t: "bind", name, user: false, part: "whole", ...options };
    if (!header.user && payload.length <= QUIET_BYTES) return this.#requests.tell(header, payload);
    const answer = await this.#requests.ask(header, payload);
    this.#read(() => readValue(answer));
  }

  async read(name: string, { maxBytes }: { readonly maxBytes: number }): Promise<unknown> {
    const answer = await this.#requests.ask({ t: "read", name, maxBytes: Math.min(maxBytes, MAX_PAYLOAD_BYTES / 2) });
    return this.#read(() => readValue(answer));
  }

  async present(name: string): Promise<VariableImage | null> {
    const answer = await this.#requests.ask({ t: "present", name });
    return this.#read(() => readPresent(answer, name));
  }

  async forget(names: readonly string[]): Promise<void> {
    const answer = await this.#requests.ask({ t: "forget", names });
    this.#read(() => readValue(answer));
  }

  async endQuery(): Promise<void> {
    const forget = this.#calls.endQuery();
    if (this.#rests) this.#requests.tell({ t: "endQuery" });
    else {
      const answer = await this.#requests.ask({ t: "endQuery" });
      this.#read(() => readValue(answer));
      this.#rests = true;
    }
    forget();
  }

  async close(): Promise<void> {
    this.#link.kill("it was closed");
    await this.#link.ended;
  }

  #activate(id: string, block: BlockRun): ActiveRun {
    const { outputBytes, graceMs, memoryBytes } = this.#options.limits;
    this.#calls.beginRun(id, block);
    this.#active = new ActiveRun({
      id,
      block,
      graceMs,
      memoryBytes,
      output: new BlockOutput(outputBytes, this.#options.onOutput),
      calls: this.#calls,
      due: () => this.#link.send({ t: "due", id }),
      cancel: () => this.#link.send({ t: "cancel", id }),
      kill: (why) => this.#link.kill(why),
    });
    return this.#active;
  }

  #read<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof ProtocolError || error instanceof CodecError) {
        this.#link.kill(`it sent an unreadable response (${reasonOf(error)})`);
      }
      throw error;
    }
  }

  #receive(frame: Frame): void {
    const { t } = frame.header;
    if (!this.#walls && t !== "ready") throw new ProtocolError("Cannot accept a message: the child is not ready");
    switch (t) {
      case "ready":
        return this.#onReady(frame.header);
      case "call":
        return this.#calls.receive(frame);
      case "cancel":
        return this.#calls.cancel(frame);
      case "output":
        return this.#activeOf(frame, "run").output.receive(frame);
      case "done":
        this.#heartbeat?.heard();
        return this.#requests.receive(frame);
      case "waited": {
        const fields = new FrameFields(frame.header, t);
        return this.#activeOf(frame, "id").waited(fields.amount("ms"), { goesOn: fields.flag("goesOn") });
      }
      case "settled":
        return this.#activeOf(frame, "id").settled();
      case "pong":
        return this.#heartbeat?.receive(frame);
      default:
        throw new ProtocolError("Cannot accept a message: its type is unknown");
    }
  }

  #activeOf({ header }: Frame, key: string): ActiveRun {
    const active = this.#active;
    if (!active?.is(new FrameFields(header, header.t).id(key))) {
      throw new ProtocolError("Cannot accept a message: it does not belong to the running block");
    }
    return active;
  }

  #onReady(header: Header): void {
    if (this.#walls) throw new ProtocolError("Cannot accept a ready message: the child was ready before");
    this.#walls = readReady(header);
    // If the caller abandoned the start, a child behind a killed launcher may still start, and ends when its input
    // ends.
    if (!this.#options.signal?.aborted) this.#ready.resolve();
  }

  #onEnd(exit: ChildExit): void {
    this.#exit = exit;
    this.#heartbeat?.stop();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#calls.close();
    this.#folder.remove();
    this.#requests.end(exit.why);
    this.#ready.reject(new SandboxEnded(exit.why));
    this.#ready.promise.catch(() => {});
  }
}

function refusedRun(message: string, advice = ""): RunReport {
  return bareReport(failedBlock("refused", { name: "Error", message, advice }));
}

async function loadModules(
  { modules = {}, onModuleFailed }: Pick<SandboxOptions, "modules" | "onModuleFailed">,
  ask: (header: { readonly t: "module"; readonly name: string }, payload: Bytes) => Promise<unknown>,
): Promise<void> {
  for (const [name, script] of Object.entries(modules)) {
    try {
      await ask({ t: "module", name }, encode(script, { maxBytes: MAX_PAYLOAD_BYTES }));
    } catch (error) {
      const ended = error instanceof SandboxEnded;
      const reason = ended ? error.why : messageOf(error);
      onModuleFailed?.({ name, reason, ended });
      if (ended) throw error;
    }
  }
}

const CALLS_END_MS = 1_000, DELAYED_MS = 300, ON_ITS_WAY_MS = 5000, LOOK_AGAIN_MS = 50;

interface ActiveRunOptions {
  readonly id: string;
  readonly block: BlockRun;
  readonly graceMs: number;
  readonly memoryBytes: number;
  readonly output: BlockOutput;
  readonly calls: CallRegistry;
  readonly due: () => void;
  readonly cancel: () => void;
  readonly kill: (why: string) => void;
}

export class ActiveRun {
  readonly #options: ActiveRunOptions;
  readonly #begun = performance.now();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #onAbort = (): void => this.#cancel();
  readonly #untimedBefore: number;
  #cancelled = false;
  #settled = false;
  #waiting: { readonly since: number | null; readonly before: number } = { since: null, before: 0 };
  #overdue = false;

  constructor(options: ActiveRunOptions) {
    this.#options = options;
    const { block, graceMs, calls } = options;
    this.#untimedBefore = calls.untimedMs;
    this.#after(block.deadlineMs, () => {
      options.due();
      this.#afterOwnTime(block.deadlineMs + graceMs, () => this.#overstayed());
    });
    block.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (block.signal?.aborted) this.#cancel();
  }

  get output(): BlockOutput {
    return this.#options.output;
  }

  get observed(): Observed {
    const { output, calls, id } = this.#options;
    const ms = performance.now() - this.#begun;
    return { stdout: output.stdout, stderr: output.stderr, calls: calls.callsOf(id), ms };
  }

  is(id: string): boolean {
    return id === this.#options.id;
  }

  /** Waits for calls that end with the block, such as a killed command, so that the result has their outputs. */
  async abortedEnd(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#after(CALLS_END_MS, resolve);
    await Promise.race([this.#options.calls.abortedEnd(this.#options.id), promise]);
  }

  waited(ms: number, { goesOn }: { readonly goesOn: boolean }): void {
    this.#waiting = { since: goesOn ? performance.now() : null, before: ms };
  }

  settled(): void {
    this.#settled = true;
  }

  get #waitedMs(): number {
    const { since, before } = this.#waiting;
    return before + (since === null ? 0 : performance.now() - since);
  }

  #overstayed(): void {
    const { calls, id } = this.#options;
    calls.abortRun(id);
    this.#after(DELAYED_MS, () => {
      if (!this.#settled) this.#kill();
    });
    this.#after(ON_ITS_WAY_MS, () => this.#kill());
  }

  #kill(): void {
    const { block, kill } = this.#options;
    this.#overdue = !this.#cancelled;
    kill(`${this.#overdue ? timedOut(block.deadlineMs) : "the block was cancelled"}, and the block did not stop`);
  }

  failed(exit: Pick<ChildExit, "why" | "outOfMemory">, names: readonly string[]): RunReport {
    const lost = "; the changes of this block are lost";
    const memory = `${Math.round(this.#options.memoryBytes / 1024 / 1024)} MiB`;
    const observed = { ...this.observed, lost: names };
    const result = this.#cancelled
      ? failedBlock("cancelled", { name: "Cancelled", message: `The block was cancelled${lost}` }, observed)
      : exit.outOfMemory
      ? failedBlock(
        "memory",
        {
          name: "OutOfMemory",
          message: `The block used up the sandbox's memory, ${memory} (sandbox.memoryMiB)${lost}`,
        },
        observed,
      )
      : failedBlock("killed", { name: "SandboxEnded", message: `The sandbox ended: ${exit.why}${lost}` }, {
        ...observed,
        timedOut: this.#overdue,
      });
    return bareReport(result);
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#options.block.signal?.removeEventListener("abort", this.#onAbort);
  }

  #after(ms: number, f: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      f();
    }, ms);
    this.#timers.add(timer);
  }

  /** The child may report any waiting time, so Vis counts it only while a call with its own deadline was open. */
  #afterOwnTime(ms: number, f: () => void): void {
    const untimed = Math.min(this.#waitedMs, this.#options.calls.untimedMs - this.#untimedBefore);
    const left = ms - (performance.now() - this.#begun - untimed);
    if (left < 1) f();
    else this.#after(Math.max(left, LOOK_AGAIN_MS), () => this.#afterOwnTime(ms, f));
  }

  #cancel(): void {
    const { id, calls, cancel, graceMs } = this.#options;
    this.#cancelled = true;
    calls.abortRun(id);
    cancel();
    this.#after(graceMs, () => this.#overstayed());
  }
}

/** The rate limit allows this many frames at once, because a block sends its remaining output at its end. */
const BURST = 40;
const SMALLEST_FULL_FRAME = 16 << 10;

export class BlockOutput {
  readonly #cap: number;
  readonly #onOutput: SandboxOptions["onOutput"];
  readonly #begun = performance.now();
  readonly #texts = { 1: "", 2: "" };
  #frames = 0;
  #chars = 0;

  constructor(cap: number, onOutput: SandboxOptions["onOutput"]) {
    this.#cap = cap;
    this.#onOutput = onOutput;
  }

  get stdout(): string {
    return this.#texts[1];
  }

  get stderr(): string {
    return this.#texts[2];
  }

  receive({ header, payload }: Frame): void {
    const stream = new FrameFields(header, "output").oneOf("stream", [1, 2]);
    if (payload.length > MAX_OUTPUT_BYTES) {
      throw new ProtocolError(
        `Cannot accept output: a message has ${payload.length} bytes; the limit is ${MAX_OUTPUT_BYTES}`,
      );
    }
    const seconds = (performance.now() - this.#begun) / 1000;
    const most = BURST + this.#cap / SMALLEST_FULL_FRAME + seconds * OUTPUT_FRAMES_PER_SECOND;
    if (++this.#frames > most) {
      throw new ProtocolError(`Cannot accept output: the block sent more than ${Math.floor(most)} messages, the limit`);
    }
    const text = new TextDecoder().decode(payload);
    this.#chars += text.length;
    if (this.#chars > this.#cap) {
      throw new ProtocolError(`Cannot accept output: it has more than ${this.#cap} characters, the limit`);
    }
    const clean = cleanText(text);
    this.#texts[stream] += clean;
    this.#onOutput?.({ stream, text: clean });
  }
}
