import { messageOf, SandboxEnded } from "../../domain/errors.ts";
import { failedBlock, type FormerResults } from "../../domain/query/block_result.ts";
import type { VariableImage } from "../../domain/query/variable.ts";
import type { Setup } from "../child/setup.ts";
import { imageParts } from "../child/variables/image_frames.ts";
import { encode } from "../codec/codec.ts";
import { CodecError } from "../codec/format.ts";
import type { WorkFolder } from "../launch/work_folder.ts";
import { type Bytes, type Frame, FrameFields, type Header, MAX_PAYLOAD_BYTES, ProtocolError } from "../protocol.ts";
import {
  bareReport,
  type BlockRun,
  type RenderReport,
  type RunReport,
  type Sandbox,
  type SandboxOptions,
  type VariableRestoreReport,
  type Walls,
} from "../sandbox.ts";
import { ActiveRun, BlockOutput } from "./_active_run.ts";
import { CallRegistry } from "./_call_registry.ts";
import {
  declaredNames,
  readReady,
  readRenderReport,
  readRestoreReports,
  readRunReport,
  readValue,
} from "./_child_answers.ts";
import { type ChildExit, ChildLink, Heartbeat, REQUEST_MS, Requests } from "./_child_link.ts";

const START_MS = 30_000;
/** Larger values are acknowledged, so that not too many of them are in flight. */
const QUIET_BYTES = 16 << 10;

export interface ConfinedSandboxOptions {
  readonly sandbox: SandboxOptions;
  readonly setup: Setup;
  /** A child that waits for its setup. */
  readonly process: Deno.ChildProcess;
  /** Its folder, empty; this object owns both from now on. */
  readonly folder: WorkFolder;
  /** How long the child may take to start. */
  readonly startMs?: number;
}

/** One child and all requests of the main process to it. */
export class ConfinedSandbox implements Sandbox {
  readonly #options: SandboxOptions;
  readonly #setup: Setup;
  readonly #folder: WorkFolder;
  readonly #startMs: number;
  readonly #link: ChildLink;
  readonly #calls: CallRegistry;
  readonly #requests: Requests;
  readonly #ready = Promise.withResolvers<void>();
  readonly #onAbort = (): void => this.#link.kill("the caller gave it up");
  #heartbeat: Heartbeat | null = null;
  #walls: Walls | null = null;
  #active: ActiveRun | null = null;
  /** Whether the last block left nothing running; only the child knows. */
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
    this.#requests = new Requests(this.#link);
    sandbox.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get pid(): number {
    return this.#link.pid;
  }

  get walls(): Walls {
    return this.#walls!; // set before anyone else has this object
  }

  get ended(): boolean {
    return this.#exit !== null;
  }

  /** Call once, before anything else. If the child does not start, it cleans up and rejects with SandboxEnded. */
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
    if (this.#active) return refusedRun("Cannot run a block: another one is running");
    let code: Bytes;
    try {
      code = encode(block.code, { maxBytes: MAX_PAYLOAD_BYTES });
    } catch {
      return refusedRun(`Cannot run a block of ${block.code.length} characters`);
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
      return this.#read(() => readRunReport(answered, active.observed));
    } catch {
      // It has ended, or was killed for what it sent. Wait for the end, so that later callers see it.
      return active.failed(await this.#link.ended, declaredNames(block.code));
    } finally {
      active.end();
      this.#active = null;
    }
  }

  async render(template: string, { deadlineMs }: { readonly deadlineMs: number }): Promise<RenderReport> {
    const payload = encode(template, { maxBytes: MAX_PAYLOAD_BYTES });
    const answered = await this.#requests.ask({ t: "render", deadlineMs }, payload, { ms: deadlineMs + REQUEST_MS });
    return this.#read(() => readRenderReport(answered));
  }

  async restore(images: readonly VariableImage[]): Promise<readonly VariableRestoreReport[]> {
    this.#rests = false; // sources are evaluated
    const { id, answer } = this.#requests.begin();
    const parts = imageParts(images).map((part) => encode(part, { maxBytes: MAX_PAYLOAD_BYTES }));
    // The child checks code before it evaluates it.
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
    const { outputBytes, graceMs } = this.#options.limits;
    this.#calls.beginRun(id, block.index);
    this.#active = new ActiveRun({
      id,
      block,
      graceMs,
      output: new BlockOutput(outputBytes, this.#options.onOutput),
      calls: this.#calls,
      due: () => this.#link.send({ t: "due", id }),
      cancel: () => this.#link.send({ t: "cancel", id }),
      kill: (why) => this.#link.kill(why),
    });
    return this.#active;
  }

  /** Reads what the child sent; the child is killed if that is unreadable. */
  #read<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof ProtocolError || error instanceof CodecError) {
        this.#link.kill(`it sent an unreadable answer (${error.message})`);
      }
      throw error;
    }
  }

  #receive(frame: Frame): void {
    const { t } = frame.header;
    if (!this.#walls && t !== "ready") throw new ProtocolError("Cannot take a message before the child is ready");
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
        throw new ProtocolError("Cannot take a message of an unknown type");
    }
  }

  #activeOf({ header }: Frame, key: string): ActiveRun {
    const active = this.#active;
    if (!active?.is(new FrameFields(header, header.t).id(key))) {
      throw new ProtocolError("Cannot take a message of no run");
    }
    return active;
  }

  #onReady(header: Header): void {
    if (this.#walls) throw new ProtocolError("Cannot become ready twice");
    this.#walls = readReady(header);
    // If the start was abandoned, a child behind a killed launcher still comes up, and ends when its input ends.
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

function refusedRun(message: string): RunReport {
  return bareReport(failedBlock("refused", { name: "Error", message }));
}

/** Loads modules into a child, in order. Rejects with SandboxEnded if one of them ended it; any other that fails is
 * reported and skipped. */
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
