import { reasonOf, SandboxEnded } from "../../domain/errors.ts";
import { abortable, unrefTimer } from "../../domain/kit/concurrency.ts";
import { isVariableName } from "../../domain/kit/names.ts";
import { shorten } from "../../domain/kit/text.ts";
import { blockResult } from "../../domain/query/host_call.ts";
import type { BlockError } from "../../domain/query/query_schemas.ts";
import type { VariableImage } from "../../domain/query/variable.ts";
import { CodecError, decode } from "../codec/codec.ts";
import {
  type Bytes,
  type Frame,
  FrameFields,
  frameHead,
  FrameReader,
  type Header,
  imageList,
  MAX_PAYLOAD_BYTES,
  PROTOCOL_VERSION,
  ProtocolError,
  wireId,
} from "../protocol.ts";
import { bareReport, type RenderReport, type RunReport, type VariableRestoreReport, type Walls } from "../sandbox.ts";

/** Up to this size, copying the head and the payload into one write is cheaper than two writes. */
const COPIED_BYTES = 64 << 10;
const READ_BYTES = 256 << 10;
const STDERR_CHARS = 16_384;
const NOTHING: Bytes = new Uint8Array(0);

interface ChildLinkOptions {
  readonly process: Deno.ChildProcess;
  /** If `onFrame` throws, Vis kills the child with the message of the error as the reason. */
  readonly onFrame: (frame: Frame) => void;
  /** The link reads no further chunk before this promise settles or the child ends, which bounds unread data. */
  readonly mayRead: () => Promise<void> | null;
  readonly onEnd: (exit: ChildExit) => void;
}

export class ChildLink {
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #options: ChildLinkOptions;
  readonly #ended: Promise<ChildExit>;
  #waiting: Bytes[] = [];
  #writing = false;
  #stderr = "";
  #killedFor: string | null = null;

  constructor(options: ChildLinkOptions) {
    this.#options = options;
    this.#process = options.process;
    this.#writer = this.#process.stdin.getWriter();
    this.#writer.closed.catch(() => {}); // `status` reports the end.
    this.#ended = this.#watch();
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Resolves when the system has reaped the process and its pipes are closed. */
  get ended(): Promise<ChildExit> {
    return this.#ended;
  }

  send(header: Header, payload: Bytes = NOTHING): void {
    this.sendLater(header, payload);
    if (!this.#writing) void this.#write();
  }

  /** The frame goes out with the next `send`, because this frame alone need not wake the child. */
  sendLater(header: Header, payload: Bytes = NOTHING): void {
    const head = frameHead({ header, payloadBytes: payload.length });
    this.#waiting.push(head);
    if (payload.length > 0) this.#waiting.push(payload);
  }

  async #write(): Promise<void> {
    this.#writing = true;
    await null; // Frames that the caller sends in one synchronous step go out together.
    try {
      while (this.#waiting.length > 0) {
        const parts = this.#waiting;
        this.#waiting = [];
        for (const bytes of joinSmall(parts)) await this.#writer.write(bytes);
      }
    } catch { /* `status` reports the end. */ }
    this.#writing = false;
  }

  kill(why: string): void {
    this.#killedFor ??= why;
    try {
      this.#process.kill("SIGKILL");
    } catch { /* The process has already ended. */ }
  }

  async #watch(): Promise<ChildExit> {
    const reading = Promise.all([this.#readFrames(), this.#readErrors().catch(() => {})]);
    const status = await this.#process.status;
    // A child that outlives its launcher notices the end when its input ends.
    const closing = this.#writer.abort().catch(() => {});
    await reading;
    await closing;
    const exit = new ChildExit({ status, stderr: cleanText(this.#stderr), killedFor: this.#killedFor });
    this.#options.onEnd(exit);
    return exit;
  }

  async #readFrames(): Promise<void> {
    const ended = new AbortController();
    void this.#process.status.then(() => ended.abort());
    const frames = new FrameReader();
    const reader = this.#process.stdout.getReader({ mode: "byob" });
    try {
      let { value: chunk } = await reader.read(new Uint8Array(READ_BYTES));
      for (; chunk && chunk.length > 0; { value: chunk } = await reader.read(new Uint8Array(chunk.buffer))) {
        frames.push(chunk, this.#options.onFrame);
        const wait = this.#options.mayRead();
        // A host function that never releases its bytes must not delay the end of the child.
        if (wait) await abortable(wait, ended.signal).catch(() => {});
      }
      if (frames.inFrame) this.kill("it ended in the middle of a message");
    } catch (error) {
      const isWrong = error instanceof ProtocolError || error instanceof CodecError;
      this.kill(`${isWrong ? "it sent a wrong message" : "Vis could not read its messages"} (${reasonOf(error)})`);
      await reader.cancel().catch(() => {});
    }
  }

  async #readErrors(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#process.stderr) {
      const room = STDERR_CHARS - this.#stderr.length;
      if (room > 0) this.#stderr += decoder.decode(chunk, { stream: true }).slice(0, room);
    }
  }
}

function joinSmall(parts: readonly Bytes[]): readonly Bytes[] {
  const joined: Bytes[] = [];
  for (let at = 0; at < parts.length;) {
    let end = at, size = 0;
    while (end < parts.length && size + parts[end]!.length <= COPIED_BYTES) size += parts[end++]!.length;
    if (end - at > 1) {
      const bytes = new Uint8Array(size);
      for (let into = 0; at < end; into += parts[at++]!.length) bytes.set(parts[at]!, into);
      joined.push(bytes);
    } else joined.push(parts[at++]!);
  }
  return joined;
}

export const REQUEST_MS = 15_000;
const LEAST_ANSWER_BYTES = 2 ** 30;

interface Request {
  readonly payloads: Bytes[];
  bytes: number;
  readonly resolve: (answer: AnswerFrames) => void;
  readonly reject: (error: Error) => void;
}

export class Requests {
  readonly #link: Pick<ChildLink, "send" | "sendLater" | "kill">;
  readonly #open = new Map<string, Request>();
  readonly #maxBytes: number;
  #gone: SandboxEnded | null = null;

  /** An answer may have as many bytes as the child has memory, and at least `LEAST_ANSWER_BYTES`. */
  constructor(
    link: Pick<ChildLink, "send" | "sendLater" | "kill">,
    { memoryBytes = 0 }: { readonly memoryBytes?: number | undefined } = {},
  ) {
    this.#link = link;
    this.#maxBytes = Math.max(LEAST_ANSWER_BYTES, memoryBytes);
  }

  get idle(): boolean {
    return this.#open.size === 0;
  }

  begin(): { readonly id: string; readonly answer: Promise<AnswerFrames> } {
    const id = wireId();
    const { promise, resolve, reject } = Promise.withResolvers<AnswerFrames>();
    if (this.#gone) reject(this.#gone);
    else this.#open.set(id, { payloads: [], bytes: 0, resolve, reject });
    return { id, answer: promise };
  }

  async ask(
    header: Header,
    payload?: Bytes,
    { ms = REQUEST_MS }: { readonly ms?: number } = {},
  ): Promise<AnswerFrames> {
    const { id, answer } = this.begin();
    this.#link.send({ ...header, id }, payload);
    return await this.within(answer, ms);
  }

  tell(header: Header, payload?: Bytes): void {
    if (this.#gone) throw this.#gone;
    this.#link.sendLater({ ...header, id: null }, payload);
  }

  async within<T>(answer: Promise<T>, ms = REQUEST_MS): Promise<T> {
    const timer = setTimeout(() => this.#link.kill(`it did not answer within ${ms / 1000} s`), ms);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }

  receive({ header, payload }: Frame): void {
    const fields = new FrameFields(header, "done");
    const id = fields.id();
    const request = this.#open.get(id);
    if (!request) throw new ProtocolError(`Cannot accept a response: no message with the id ${id} waits for it`);
    request.bytes += payload.length;
    if (request.bytes > this.#maxBytes) {
      throw new ProtocolError(
        `Cannot accept a response: it has ${request.bytes} bytes; the limit is ${this.#maxBytes}`,
      );
    }
    request.payloads.push(payload);
    if (fields.flag("more")) return;
    this.#open.delete(id);
    request.resolve({ payloads: request.payloads, header });
  }

  end(why: string): void {
    this.#gone = new SandboxEnded(why);
    for (const request of this.#open.values()) request.reject(this.#gone);
    this.#open.clear();
  }
}

const EVERY_MS = 1000, DEAD_AFTER_MS = 2000;

interface HeartbeatOptions {
  readonly send: (header: Header) => void;
  readonly isIdle: () => boolean;
  readonly onDead: () => void;
  readonly everyMs?: number;
  readonly deadAfterMs?: number;
}

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #everyMs: number;
  readonly #deadAfterMs: number;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #sent = new Map<string, number>();
  #lastTick = performance.now();
  #heard = 0;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#everyMs = options.everyMs ?? EVERY_MS;
    this.#deadAfterMs = options.deadAfterMs ?? DEAD_AFTER_MS;
    this.#timer = setInterval(() => this.#tick(), this.#everyMs);
    unrefTimer(this.#timer);
  }

  receive({ header }: Frame): void {
    const id = new FrameFields(header, "pong").id();
    if (!this.#sent.delete(id)) {
      throw new ProtocolError(`Cannot accept a pong: no ping with the id ${id} waits for a reply`);
    }
  }

  heard(): void {
    this.#heard = performance.now();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = performance.now();
    // A tick this late means that the main process itself was delayed, which is not the child's fault.
    const late = now - this.#lastTick > this.#everyMs * 1.5;
    this.#lastTick = now;
    const idle = this.#options.isIdle();
    for (const [id, at] of this.#sent) {
      if (late || !idle) this.#sent.set(id, now);
      else if (now - at >= this.#deadAfterMs) return this.#options.onDead();
    }
    if (!idle || this.#sent.size > 0 || now - this.#heard < this.#everyMs) return;
    const id = wireId();
    this.#sent.set(id, now);
    this.#options.send({ t: "ping", id });
  }
}

const MEMORY_SIGNALS: ReadonlySet<string> = new Set(["SIGTRAP", "SIGABRT", "SIGSEGV", "SIGILL", "SIGBUS"]);
/** The last text means that the limit leaves no stack for the thread of the next deadline. */
const MEMORY_TEXT =
  /out of memory|memory allocation of|Failed to reserve virtual memory|Cannot allocate memory|unable to create worker threads/i;
/** A shell between Vis and the child reports a signal as 128 plus its number. */
const SIGNALS_OF_CODES: Readonly<Record<number, string>> = {
  132: "SIGILL",
  133: "SIGTRAP",
  134: "SIGABRT",
  135: "SIGBUS",
  137: "SIGKILL",
  139: "SIGSEGV",
};
const PANIC_TEXT = /has panicked|panicked at/;

interface ChildExitFacts {
  readonly status: Deno.CommandStatus;
  readonly stderr: string;
  readonly killedFor: string | null;
}

export class ChildExit {
  readonly #facts: ChildExitFacts;

  constructor(facts: ChildExitFacts) {
    this.#facts = facts;
  }

  /** Near the limit, memory may not suffice for a report on stderr, so a memory signal without the text of a panic
   * counts too. */
  get outOfMemory(): boolean {
    const { stderr, killedFor } = this.#facts;
    if (killedFor !== null) return false;
    // deno-lint-ignore vis/no-message-parsing -- V8 and the allocator report it nowhere else
    if (MEMORY_TEXT.test(stderr)) return true;
    // deno-lint-ignore vis/no-message-parsing -- only the text distinguishes a panic from a lack of memory
    return this.#signal !== null && MEMORY_SIGNALS.has(this.#signal) && !PANIC_TEXT.test(stderr);
  }

  get #signal(): string | null {
    const { signal, code } = this.#facts.status;
    return signal ?? SIGNALS_OF_CODES[code] ?? null;
  }

  get why(): string {
    const { status: { code }, killedFor, stderr } = this.#facts;
    if (killedFor !== null) return killedFor;
    if (this.outOfMemory) return "it ran out of memory";
    if (this.#signal === "SIGKILL") return "something outside Vis killed it (SIGKILL)";
    const last = stderr.trim().split("\n").find((line) => /\w/.test(line))?.slice(0, 200) ?? "";
    return `${this.#signal ?? `exit code ${code}`}${last ? ` (${last})` : ""}`;
  }
}

const NAMES = { items: 100_000, length: 1000 } as const;
const MAX_TEXT = 1 << 20, MAX_VALUE_BYTES = 1 << 20;
const OUTCOMES = ["value", "none", "error", "refused", "timeout", "cancelled"] as const;

export interface Observed {
  readonly stdout: string;
  readonly stderr: string;
  readonly calls: RunReport["result"]["calls"];
  readonly ms: number;
}

export function readRunReport({ payloads, header }: AnswerFrames, observed: Observed): RunReport {
  const last = payloads[payloads.length - 1];
  if (!last) throw new ProtocolError("Cannot read a report: it has no result");
  const fields = new FrameFields(decode(last), "report");
  const outcome = fields.oneOf("outcome", OUTCOMES);
  const error = header["error"] === null ? null : blockError(header["error"]);
  const repaired = fields.nullable("repaired", (name) => clean(fields, name));
  if (outcome === "refused") return bareReport(blockResult({ ...observed, outcome, error, repaired }));
  const earlier = payloads.slice(0, -1).flatMap((part) => imageList(decode(part)));
  const saved = [...earlier, ...imageList(fields.value["saved"])].map(checkedImage);
  const result = blockResult({
    ...observed,
    ok: outcome === "value" || outcome === "none",
    outcome,
    preview: clean(fields, "preview"),
    type: clean(fields, "type"),
    size: fields.nullable("size", (name) => fields.amount(name)),
    dropped: fields.amount("dropped"),
    error,
    defined: names(fields, "defined"),
    touched: names(fields, "touched"),
    pending: names(fields, "pending"),
    lost: names(fields, "lost"),
    ms: fields.amount("ms"),
    timedOut: outcome === "timeout",
    repaired,
  });
  const value = fields.nullable("value", (name) => fields.bytes(name));
  if (value && value.length > MAX_VALUE_BYTES) {
    throw new ProtocolError(`Cannot accept a value: it has ${value.length} bytes; the limit is ${MAX_VALUE_BYTES}`);
  }
  return {
    result,
    saved,
    reads: names(fields, "reads"),
    madeFrom: fields.nullable("madeFrom", (name) => madeFrom(fields.value[name])),
    value,
    literal: fields.flag("literal"),
    notes: fields.texts("notes", { items: 100, length: 10_000 }).map(cleanNote),
  };
}

function cleanNote(text: string): string {
  return cleanText(text).replace(/\s*[\n\u2028\u2029]\s*/g, " ");
}

function clean(fields: FrameFields, name: string): string {
  return cleanText(fields.text(name, MAX_TEXT));
}

function names(fields: FrameFields, name: string): string[] {
  return fields.texts(name, NAMES).map(checkedName);
}

function madeFrom(value: unknown): NonNullable<RunReport["madeFrom"]> {
  const fields = new FrameFields(value, "madeFrom");
  const keys = Object.keys(fields.value);
  if (keys.length > NAMES.items) {
    throw new ProtocolError(
      `Cannot accept the variables of a block: there are ${keys.length}; the limit is ${NAMES.items}`,
    );
  }
  return new Map(keys.map((name) => [checkedName(name), names(fields, name)]));
}

/** Names go into prompts and lists, so the main process accepts only names that a block can declare. */
function checkedName(name: string): string {
  if (!isVariableName(name)) {
    const shown = cleanText(JSON.stringify(shorten(name, 60)));
    throw new ProtocolError(`Cannot accept a variable: ${shown} is not a valid name`);
  }
  return name;
}

/** The source stays unchanged, because a child evaluates it again. */
function checkedImage(image: VariableImage): VariableImage {
  const { summary } = image;
  return {
    ...image,
    name: checkedName(image.name),
    reason: cleanText(image.reason),
    summary: {
      declaration: cleanText(summary.declaration),
      type: cleanText(summary.type),
      size: summary.size,
      shape: cleanText(summary.shape),
      inline: summary.inline === null ? null : cleanText(summary.inline),
      doc: cleanText(summary.doc),
    },
  };
}

function blockError(value: unknown): BlockError {
  const fields = new FrameFields(value, "error");
  const advice = clean(fields, "advice");
  return {
    name: clean(fields, "name"),
    message: clean(fields, "message"),
    ...advice === "" ? {} : { advice },
    line: fields.nullable("line", (name) => fields.amount(name)),
    column: fields.nullable("column", (name) => fields.amount(name)),
    excerpt: clean(fields, "excerpt"),
    stack: clean(fields, "stack"),
  };
}

const MAX_REPORTS = 100_000, MAX_ANSWER_TEXT = 4000;

function body({ payloads }: AnswerFrames): unknown {
  const [only, ...more] = payloads;
  if (!only || more.length > 0) {
    throw new ProtocolError(
      `Cannot read a response of the sandbox: it has ${payloads.length} parts instead of one`,
    );
  }
  const fields = new FrameFields(decode(only), "answer");
  if (fields.flag("ok")) return fields.value["value"];
  const error = new FrameFields(fields.value["error"], "error");
  const message = cleanText(error.text("message", MAX_ANSWER_TEXT));
  throw error.flag("tooLarge") ? new RangeError(message) : new Error(message);
}

export function readValue(answer: AnswerFrames): unknown {
  const value = body(answer);
  if (value === null) return undefined;
  return decode(new FrameFields({ value }, "answer").bytes("value"));
}

export function readPresent(answer: AnswerFrames, name: string): VariableImage | null {
  const value = readValue(answer);
  const [image] = value === undefined ? [] : imageList([value]).map(checkedImage);
  return image ? { ...image, name } : null;
}

export function readRestoreReports(answer: AnswerFrames): VariableRestoreReport[] {
  return new FrameFields({ reports: body(answer) }, "answer").list("reports", MAX_REPORTS).map((one) => {
    const fields = new FrameFields(one, "report");
    return {
      name: cleanText(fields.text("name", MAX_ANSWER_TEXT)),
      how: fields.oneOf("how", ["data", "eval", "skipped", "lost"]),
      reason: cleanText(fields.text("reason", MAX_ANSWER_TEXT)),
    };
  });
}

/** The answer keeps its line endings and control characters; channels clean it for display. */
export function readRenderReport(answer: AnswerFrames): RenderReport {
  const fields = new FrameFields(body(answer), "rendering");
  if (!fields.flag("ok")) return { ok: false, reason: cleanText(fields.text("reason", MAX_ANSWER_TEXT)) };
  return {
    ok: true,
    from: fields.oneOf("from", ["variable", "template", "literal"]),
    text: fields.text("text", MAX_PAYLOAD_BYTES),
  };
}

interface AnswerFrames {
  readonly payloads: readonly Bytes[];
  readonly header: Header;
}

export function readReady(header: Header): Walls {
  const fields = new FrameFields(header, "ready");
  fields.oneOf("version", [PROTOCOL_VERSION]);
  const walls = new FrameFields(fields.value["walls"], "walls");
  const kernel = new FrameFields(walls.value["kernel"], "kernel wall");
  return {
    realm: walls.flag("realm"),
    permissions: walls.flag("permissions"),
    process: walls.flag("process"),
    kernel: { landlock: kernel.amount("landlock"), seccomp: kernel.flag("seccomp") },
    failed: walls.texts("failed", { items: 1000, length: 1000 }).map(cleanText),
  };
}

// deno-lint-ignore no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

export function cleanText(text: string): string {
  return text.replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const MAX_CHARS = 256 << 10;
const NAME = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*`;
const TOKEN = new RegExp(
  String.raw`//[^\n]*|/\*[^]*?(?:\*/|$)|"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?|` +
    "`(?:[^`\\\\]|\\\\[^])*`?|" +
    String.raw`[{}()[\],;]|(?<![\w$.#])(?:const|let|var|class|enum|function)(?![\w$])[\s*]*`,
  "gu",
);
const NEXT_NAME = new RegExp(String.raw`\s*(${NAME})`, "uy");
const NAME_IN_PATTERN = new RegExp(String.raw`(?<=[{[,:]\s*|\.\.\.)${NAME}(?=\s*[,}\]=])`, "gu");

/** Serves a block whose child ended before it reported its names. Keywords decide, because parsing could take the main
 * process too long. Destructuring patterns may add names that the block does not declare. */
export function declaredNames(code: string): string[] {
  const names = new Set<string>();
  if (code.length > MAX_CHARS) return [];
  let depth = 0, pattern = -1;
  let isList = false;
  const takeName = (from: number): boolean => {
    NEXT_NAME.lastIndex = from;
    const name = NEXT_NAME.exec(code)?.[1];
    if (name !== undefined) names.add(name);
    return name !== undefined;
  };
  for (const { 0: token, index } of code.matchAll(TOKEN)) {
    const first = token.charAt(0), end = index + token.length;
    if (first === "{" || first === "[" || first === "(") depth++;
    else if (first === "}" || first === "]" || first === ")") {
      depth = Math.max(0, depth - 1);
      if (depth > 0 || pattern < 0) continue;
      for (const [name] of code.slice(pattern, end).matchAll(NAME_IN_PATTERN)) names.add(name);
      pattern = -1;
    } else if (depth > 0 || /^["'`/]/.test(first)) continue;
    else if (first === ";") isList = false;
    else if (first !== "," || isList) {
      if (first !== ",") isList = /^[clv][oea][ntr]/.test(token);
      if (!takeName(end) && isList) pattern = end;
    }
  }
  return [...names];
}
