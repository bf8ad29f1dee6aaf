import { decode, encode } from "../../codec/codec.ts";
import {
  type Bytes,
  MAX_CALL_BYTES,
  MAX_CALL_VALUES,
  MAX_CALLS,
  MAX_PAYLOAD_BYTES,
  ProtocolError,
  wireId,
} from "../../protocol.ts";
import { advisedFacts, captured, type ErrorFacts, look, setErrorFacts } from "../realm/captured.ts";
import { frameOf, type Pipe } from "./pipe.ts";
import type { Results } from "./results.ts";
import type { RunContext } from "./timed_tasks.ts";

interface CallAnswer {
  readonly id: string;
  readonly ok: boolean;
  readonly payload: Bytes;
}

interface Call {
  readonly id: string;
  readonly name: string;
  readonly run: RunContext;
  /** The call of the function creates the error, so that its stack names the line of the block. */
  readonly error: Error;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  gaveUp: boolean;
  sent: boolean;
  payload: Bytes | null;
  readonly bytes: number;
  readonly untimed: boolean;
  next: Call | null;
}

interface HostCallsOptions {
  readonly pipe: Pipe;
  readonly untimed: readonly string[];
  readonly results: Results;
  /** Settling a promise runs the code that awaits it, so the task enters foreign code. */
  readonly soon: (task: () => void, owner: RunContext) => void;
  readonly inTurn: () => boolean;
  readonly current: () => RunContext | null;
}

export class HostCalls {
  readonly #options: HostCallsOptions;
  // Foreign code may have replaced the methods of Map and Array, so the record is a plain dictionary.
  readonly #pending: Record<string, Call> = Object.create(null);
  #first: Call | null = null;
  #last: Call | null = null;
  #outstanding = 0;
  #outstandingBytes = 0;
  readonly #untimed: Record<string, true> = Object.create(null);
  #open = 0;
  #openUntimed = 0;
  #enabled = true;

  constructor(options: HostCallsOptions) {
    this.#options = options;
    const { untimed } = options;
    for (let i = 0; i < untimed.length; i++) this.#untimed[untimed[i]!] = true;
  }

  get onlyUntimed(): boolean {
    return this.#openUntimed > 0 && this.#openUntimed === this.#open;
  }

  /** A call that the child has sent counts until the main process answers, even after the block abandoned the call. */
  get areNone(): boolean {
    return this.#open === 0 && this.#outstanding === 0;
  }

  areOpen(run: RunContext): boolean {
    for (let call = this.#first; call; call = call.next) if (call.run === run && !call.gaveUp) return true;
    for (const id in this.#pending) {
      const call = this.#pending[id];
      if (call && call.run === run && !call.gaveUp) return true;
    }
    return false;
  }

  /** A restored source must not repeat a side effect, so the child disables calls during a restore. */
  enable(on: boolean): void {
    this.#enabled = on;
  }

  call(name: string, args: unknown[]): Promise<unknown> {
    return new captured.Promise((resolve, reject) => {
      const error = new captured.Error(name);
      const run = this.#options.current();
      const refused = this.#refusal(run);
      if (refused || !run) {
        return reject(setErrorFacts(error, { name: "Error", message: `Cannot call ${name}: ${refused}` }));
      }
      let payload: Bytes;
      try {
        payload = encode(args, { maxBytes: MAX_PAYLOAD_BYTES, maxSlots: MAX_CALL_VALUES });
      } catch (cause) {
        return reject(
          setErrorFacts(error, refusalOf(name, cause)),
        );
      }
      this.#enqueue({
        id: wireId(),
        name,
        run,
        error,
        resolve,
        reject,
        gaveUp: false,
        sent: false,
        payload,
        bytes: look.viewLength(payload),
        untimed: this.#untimed[name] === true,
        next: null,
      });
    });
  }

  answer({ id, ok, payload }: CallAnswer): void {
    const call = this.#pending[id];
    if (!call) throw new ProtocolError(`Cannot accept a response: no call with the id ${id} waits for it`);
    this.#free(call);
    this.#sendNext();
    if (call.gaveUp) return;
    this.#closed(call);
    let value: unknown, failed = !ok;
    try {
      value = decode(payload);
      if (ok) this.#options.results.mark(call.name, value);
    } catch (cause) {
      value = {
        name: "Error",
        message: `Cannot read the result of ${call.name}: its bytes are not valid (${reasonOf(cause)})`,
      };
      failed = true;
    }
    const settle = () => failed ? call.reject(setErrorFacts(call.error, factsOf(value))) : call.resolve(value);
    this.#options.soon(settle, call.run);
  }

  abort(run: RunContext | null, why: string): void {
    for (let call = this.#first; call; call = call.next) {
      if (run === null || call.run === run) this.#giveUp(call, why);
    }
    for (const id in this.#pending) {
      const call = this.#pending[id];
      if (!call || (run !== null && call.run !== run)) continue;
      if (call.sent) this.#options.pipe.send({ t: "cancel", id: call.id });
      this.#giveUp(call, why);
    }
  }

  #free(call: Call): void {
    if (!this.#pending[call.id]) return;
    delete this.#pending[call.id];
    this.#outstanding--;
    this.#outstandingBytes -= call.bytes;
  }

  #refusal(run: RunContext | null): string {
    if (!this.#enabled) return "Vis is restoring the variables";
    if (!run) return "no block is running";
    return run.ended;
  }

  #giveUp(call: Call, why: string): void {
    if (call.gaveUp) return;
    call.gaveUp = true;
    this.#closed(call);
    if (!call.sent) this.#free(call); // The child did not send the call, so no answer will free it.
    call.payload = null;
    this.#options.soon(() => call.reject(setErrorFacts(call.error, { name: "Error", message: why })), call.run);
  }

  #closed(call: Call): void {
    this.#open--;
    if (call.untimed) this.#openUntimed--;
  }

  #enqueue(call: Call): void {
    this.#open++;
    if (call.untimed) this.#openUntimed++;
    if (this.#first && this.#last) this.#last.next = call;
    else this.#first = call;
    this.#last = call;
    this.#sendNext();
  }

  #sendNext(): void {
    for (let call = this.#first; call; call = this.#first) {
      if (!call.gaveUp && (this.#outstanding >= MAX_CALLS || !this.#fits(call))) return;
      if (call.payload) this.#send(call, call.payload);
      else this.#first = call.next;
    }
  }

  turnEnded(): void {
    const { pipe } = this.#options;
    this.#sendNext();
    pipe.gathers = false;
    pipe.flush();
  }

  #fits(call: Call): boolean {
    return this.#outstanding === 0 || this.#outstandingBytes + call.bytes <= MAX_CALL_BYTES;
  }

  /** A limit may stop a block at any call, so the steps that register a host call contain no call. The first host call
   * of a turn goes out immediately. Later host calls wait for the end of the turn, a full batch or a large call. */
  #send(call: Call, payload: Bytes): void {
    const { pipe, inTurn } = this.#options;
    const { id, name, run, bytes } = call;
    const { head, rest } = frameOf({ t: "call", id, run: run.id, name }, payload);
    const { waiting } = pipe;
    this.#first = call.next;
    call.payload = null;
    this.#pending[id] = call;
    this.#outstanding++;
    this.#outstandingBytes += bytes;
    waiting[waiting.length] = head;
    if (rest) waiting[waiting.length] = rest;
    call.sent = true;
    pipe.flushUnlessLittle(bytes);
    pipe.gathers ||= inTurn();
  }
}

function factsOf(reported: unknown): ErrorFacts {
  const name = own(reported, "name"), message = own(reported, "message");
  const hint = own(reported, "hint"), advice = own(reported, "advice");
  return {
    name: typeof name === "string" ? name : "Error",
    message: typeof message === "string" ? message : "the function failed without a message",
    ...typeof hint === "string" && { hint },
    ...typeof advice === "string" && { advice },
  };
}

function own(from: unknown, key: string): unknown {
  if (typeof from !== "object" || from === null) return undefined;
  return captured.getOwnPropertyDescriptor(from, key)?.value;
}

function refusalOf(name: string, cause: unknown): ErrorFacts {
  const what = own(cause, "what"), path = own(cause, "path");
  const { why, advice } = typeof what === "string" && typeof path === "string"
    ? refusedArgument({ what, path })
    : { why: reasonOf(cause), advice: "" };
  const message = `Cannot call ${name}: ${why}`;
  return advice === "" ? { name: "TypeError", message } : advisedFacts("TypeError", message, advice);
}

function reasonOf(cause: unknown): string {
  const message = own(cause, "message");
  return typeof message === "string" && message !== "" ? message : "its value is unreadable";
}

const ADVICE: readonly { readonly start: string; readonly advice: string }[] = [
  { start: "a function", advice: "pass its result or its text, String(f)" },
  { start: "a Proxy", advice: "pass a plain copy" },
  { start: "a symbol", advice: "pass a string" },
  { start: "a promise", advice: "await it first" },
  { start: "a boxed primitive", advice: "pass the plain value" },
  { start: "a built-in object (Generator", advice: "pass an array, [...it]" },
  { start: "a built-in object (Array Iterator", advice: "pass an array, [...it]" },
  { start: "a built-in object", advice: "pass what it holds as an array, an object or a string" },
  { start: "deeper than", advice: "pass its parts" },
  { start: "more than", advice: "pass its parts" },
  { start: "a sparse array", advice: "pass an object or a Map" },
];

function refusedArgument(
  { what, path }: { readonly what: string; readonly path: string },
): { readonly why: string; readonly advice: string } {
  if (path === "") {
    const isCount = look.slice(what, 0, 9) === "more than" || look.slice(what, 0, 8) === "at least";
    return { why: `its arguments ${isCount ? "have" : "are"} ${what}`, advice: "pass them in parts" };
  }
  const close = look.indexOf(path, "]");
  const why = `argument ${+look.slice(path, 1, close) + 1}${look.slice(path, close + 1)} is ${what}`;
  for (let i = 0; i < ADVICE.length; i++) {
    const { start, advice } = ADVICE[i]!;
    if (look.slice(what, 0, start.length) === start) return { why, advice };
  }
  return { why, advice: "" };
}
