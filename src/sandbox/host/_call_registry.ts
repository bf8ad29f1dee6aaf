import { messageOf } from "../../domain/errors.ts";
import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import { Semaphore } from "../../domain/kit/concurrency.ts";
import type { BlockCall } from "../../domain/query/query_schemas.ts";
import { CodecError, decode, encode, tableBytes } from "../codec/codec.ts";
import {
  type Bytes,
  type Frame,
  FrameFields,
  type Header,
  MAX_CALL_BYTES,
  MAX_CALL_VALUES,
  MAX_CALLS,
  MAX_PAYLOAD_BYTES,
  MAX_RESULT_VALUES,
  ProtocolError,
} from "../protocol.ts";
import type { BlockRun, SandboxOptions } from "../sandbox.ts";

export class ByteGate {
  readonly #limit: number;
  #held = 0;
  #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(bytes: number): void {
    this.#held += bytes;
  }

  remove(bytes: number): void {
    this.#held -= bytes;
    if (this.#held >= this.#limit) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }

  room(): Promise<void> | null {
    return this.#held < this.#limit ? null : new Promise((resolve) => this.#waiting.push(resolve));
  }
}

const MAX_RECORDED = 1000, MAX_TOLD = 100;
const MAX_RUNS = 10_000;
const MAX_REMEMBERED_IDS = 100_000;
/** All children share this limit of argument bytes in calls that the host has accepted and not yet answered. */
const ALL_CHILDREN = new ByteGate(512 << 20);
const CHILD_HEAP = 96 << 20, ALL_HEAP = new Semaphore(192 << 20);
const BYTES_PER_VALUE = 100;
const SMALL_HEAP = 64 << 10;

interface Run {
  readonly iteration: number;
  readonly block: number;
  readonly calls: BlockCall[];
  ended: boolean;
  reported: boolean;
}

interface Call {
  readonly run: string;
  readonly ended: PromiseWithResolvers<void>;
  readonly abort: AbortController;
}

interface CallRegistryOptions {
  readonly functions: readonly string[];
  readonly untimed?: readonly string[];
  readonly onCall: SandboxOptions["onCall"];
  readonly send: (header: Header, payload: Bytes) => void;
}

export class CallRegistry {
  readonly #options: CallRegistryOptions;
  readonly #functions: ReadonlySet<string>;
  readonly #runs = new BoundedMap<string, Run>(MAX_RUNS);
  readonly #calls = new Map<string, Call>();
  readonly #used = new Set<string>();
  readonly #gate = new ByteGate(MAX_CALL_BYTES);
  readonly #heap = new Semaphore(CHILD_HEAP);
  readonly #untimed: ReadonlySet<string>;
  readonly #patience = { open: 0, since: 0, before: 0 };
  #bytes = 0;
  #closed = false;

  constructor(options: CallRegistryOptions) {
    this.#options = options;
    this.#functions = new Set(options.functions);
    this.#untimed = new Set(options.untimed);
  }

  beginRun(id: string, { iteration, index }: Pick<BlockRun, "iteration" | "index">): void {
    this.#runs.set(id, { iteration, block: index, calls: [], ended: false, reported: false });
  }

  endRun(id: string): void {
    const run = this.#runs.get(id);
    if (run) run.reported = true;
  }

  callsOf(id: string): readonly BlockCall[] {
    return this.#runs.get(id)?.calls.slice() ?? [];
  }

  /** Resolves when the aborted calls of the run have ended, so that `callsOf` has them. */
  async abortedEnd(id: string): Promise<void> {
    const open = [...this.#calls.values()].filter(({ run, abort }) => run === id && abort.signal.aborted);
    await Promise.all(open.map(({ ended }) => ended.promise));
  }

  get untimedMs(): number {
    const { open, since, before } = this.#patience;
    return before + (open > 0 ? performance.now() - since : 0);
  }

  room(): Promise<void> | null {
    return this.#gate.room() ?? ALL_CHILDREN.room();
  }

  receive({ header, payload }: Frame): void {
    const fields = new FrameFields(header, "call");
    const id = fields.id(), run = fields.id("run"), name = fields.text("name", 200);
    const known = this.#runs.get(run);
    if (this.#used.has(id)) throw new ProtocolError(`Cannot accept call ${id}: its id was used before`);
    if (!known) throw new ProtocolError(`Cannot accept call ${id}: its block run ${run} is unknown`);
    if (!this.#functions.has(name)) {
      throw new ProtocolError(`Cannot accept call ${id}: the sandbox does not have this function`);
    }
    if (this.#calls.size >= MAX_CALLS) {
      throw new ProtocolError(`Cannot accept call ${id}: ${MAX_CALLS} calls are running, the limit`);
    }
    if (this.#bytes > 0 && this.#bytes + payload.length > MAX_CALL_BYTES) {
      throw new ProtocolError(
        `Cannot accept call ${id}: with it, the running calls would have ${
          this.#bytes + payload.length
        } bytes; the limit is ${MAX_CALL_BYTES}`,
      );
    }
    this.#remember(id);
    const abort = new AbortController();
    if (known.ended) abort.abort();
    this.#calls.set(id, { run, abort, ended: Promise.withResolvers() });
    this.#hold(payload.length);
    void this.#serve({ id, run: known, name, payload, signal: abort.signal });
  }

  cancel({ header }: Frame): void {
    const id = new FrameFields(header, "cancel").id();
    if (!this.#used.has(id)) {
      throw new ProtocolError(`Cannot cancel call ${id}: the registry knows no call with this id`);
    }
    this.#calls.get(id)?.abort.abort();
  }

  abortRun(id: string): void {
    const run = this.#runs.get(id);
    if (run) run.ended = true;
    for (const call of this.#calls.values()) if (call.run === id) call.abort.abort();
  }

  endQuery(): () => void {
    this.#abortAll();
    const runs = [...this.#runs.keys()], ids = [...this.#used];
    return () => {
      const open = new Set(Array.from(this.#calls.values(), ({ run }) => run));
      for (const id of runs) if (!open.has(id)) this.#runs.delete(id);
      for (const id of ids) if (!this.#calls.has(id)) this.#used.delete(id);
    };
  }

  #abortAll(): void {
    for (const id of this.#runs.keys()) this.abortRun(id);
  }

  close(): void {
    this.#closed = true;
    this.#abortAll();
  }

  #remember(id: string): void {
    if (this.#used.size >= MAX_REMEMBERED_IDS) {
      for (const old of this.#used) {
        if (this.#calls.has(old)) continue;
        this.#used.delete(old);
        break;
      }
    }
    this.#used.add(id);
  }

  #hold(bytes: number): void {
    this.#bytes += bytes;
    this.#gate.add(bytes);
    ALL_CHILDREN.add(bytes);
  }

  #release(bytes: number): void {
    this.#bytes -= bytes;
    this.#gate.remove(bytes);
    ALL_CHILDREN.remove(bytes);
  }

  #admitted(payload: Bytes, signal: AbortSignal, work: () => Promise<Bytes>): Promise<Bytes> {
    const heap = heapOf(payload);
    if (heap <= SMALL_HEAP) return work();
    return this.#heap.runAmount(heap, { work: () => ALL_HEAP.runAmount(heap, { work, signal }), signal });
  }

  async #serve(
    call: {
      readonly id: string;
      readonly run: Run;
      readonly name: string;
      readonly payload: Bytes;
      readonly signal: AbortSignal;
    },
  ): Promise<void> {
    const { id, run, name, payload, signal } = call;
    const begun = performance.now();
    const untimed = this.#untimed.has(name);
    let ok = true, answer: Bytes, isAdmitted = false;
    let said: Omit<BlockCall, "name" | "ms"> = { ok };
    const told = (facts: typeof said): void => void (said = facts);
    const made = { iteration: run.iteration, block: run.block, isLate: () => run.reported };
    try {
      answer = await this.#admitted(payload, signal, async () => {
        // Waiting for room counts as the block's time. A call that holds room may wait for a sub-query whose calls need
        // room, so the deadline must end this wait.
        isAdmitted = true;
        if (untimed && this.#patience.open++ === 0) this.#patience.since = performance.now();
        const args = decode(payload, { maxSlots: MAX_CALL_VALUES });
        if (!Array.isArray(args)) throw new TypeError("Cannot read the arguments: they are not a list");
        return encodeResult(name, await this.#options.onCall({ name, args, ...made, signal, told }));
      });
    } catch (error) {
      ok = false;
      answer = encode(errorFacts(error));
    }
    const { ended } = this.#calls.get(id) ?? {};
    this.#calls.delete(id);
    if (untimed && isAdmitted && --this.#patience.open === 0) {
      this.#patience.before += performance.now() - this.#patience.since;
    }
    // A child that waits for the main process to read could not receive the answer, so the registry frees the room
    // first.
    this.#release(payload.length);
    if (run.calls.length < MAX_RECORDED) {
      const { exitCode, changes } = said;
      const short = { ...exitCode === undefined ? {} : { exitCode }, ...changes ? { changes } : {} };
      const facts = run.calls.length < MAX_TOLD ? said : short;
      run.calls.push({ name, ms: performance.now() - begun, ...facts, ok: ok && said.ok });
    }
    ended?.resolve();
    if (!this.#closed) this.#options.send({ t: "answer", id, ok }, answer);
  }
}

/** Estimates the heap of the decoded arguments from above: a byte of text takes up to two bytes. */
function heapOf(payload: Bytes): number {
  const values = Math.min(MAX_CALL_VALUES, tableBytes(payload) / 2);
  return payload.length * 2 + values * BYTES_PER_VALUE;
}

function encodeResult(name: string, value: unknown): Bytes {
  try {
    return encode(value, { maxBytes: MAX_PAYLOAD_BYTES, maxSlots: MAX_RESULT_VALUES });
  } catch (error) {
    const why = error instanceof CodecError ? `value${error.path} ${error.fact}` : messageOf(error);
    throw new TypeError(`Cannot pass on the result of ${name}: ${why}`);
  }
}

function errorFacts(error: unknown): { name: string; message: string; hint?: string; advice?: string } {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message } = error;
  const facts: unknown = Reflect.get(error, "facts");
  const told = (key: string): unknown =>
    Reflect.get(error, key) ?? (typeof facts === "object" && facts !== null ? Reflect.get(facts, key) : undefined);
  const hint = told("hint"), advice = told("advice");
  return {
    ...{ name, message },
    ...typeof hint === "string" ? { hint } : {},
    ...typeof advice === "string" ? { advice } : {},
  };
}
