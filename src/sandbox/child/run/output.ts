import { bareList, uncurry } from "../../codec/intrinsics.ts";
import { type Bytes, MAX_OUTPUT_BYTES, OUTPUT_FRAMES_PER_SECOND } from "../../protocol.ts";
import { captured, look, nameSet } from "../realm/captured.ts";

const FLUSH_EVERY_MS = 1000 / OUTPUT_FRAMES_PER_SECOND;
/** A UTF-16 unit takes at most three bytes of UTF-8. */
const MAX_UNITS = Math.floor(MAX_OUTPUT_BYTES / 3);
const encodeText = TextEncoder.prototype.encode;
const sliceText = String.prototype.slice;
const codeAt = String.prototype.charCodeAt;

interface OutputChunk {
  readonly stream: 1 | 2;
  readonly payload: Bytes;
}

interface OutputOptions {
  readonly cap: number;
  readonly send: (chunk: OutputChunk) => void;
  readonly afterwards: (task: () => void) => void;
}

/** A block in a loop is never idle, so `write` itself sends output that has waited long enough. */
export class Output {
  readonly #options: OutputOptions;
  readonly #encoder = new captured.TextEncoder();
  readonly #waiting = { 1: "", 2: "" };
  #printed = "";
  #kept = 0;
  #dropped = 0;
  #sentAt = 0;
  #open = false;
  #timer: ReturnType<typeof captured.setTimeout> | null = null;
  #asked = false;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#open = true;
    this.#sentAt = captured.now();
  }

  write(stream: 1 | 2, text: string): void {
    const room = this.#options.cap - this.#kept;
    const kept = text.length <= room ? text : piece(text, 0, room);
    this.#dropped += text.length - kept.length;
    this.#kept += kept.length;
    this.#printed += kept;
    this.#waiting[stream] += kept;
    const due = this.#waiting[stream].length >= MAX_UNITS || captured.now() - this.#sentAt >= FLUSH_EVERY_MS;
    if (!this.#open) return;
    if (due) this.#flush();
    else this.#flushLater();
  }

  get printed(): string {
    return this.#printed;
  }

  end(): number {
    this.#flush();
    const dropped = this.#dropped;
    this.#kept = this.#dropped = 0;
    this.#printed = "";
    this.#open = false;
    return dropped;
  }

  #flushLater(): void {
    if (this.#asked) return;
    this.#asked = true;
    this.#options.afterwards(() => {
      if (this.#asked) this.#timer = captured.setTimeout(() => this.#flush(), FLUSH_EVERY_MS);
    });
  }

  #flush(): void {
    this.#asked = false;
    const timer = this.#timer;
    this.#timer = null;
    if (timer !== null) this.#options.afterwards(() => captured.clearTimeout(timer));
    this.#flushStream(1);
    this.#flushStream(2);
    this.#sentAt = captured.now();
  }

  #flushStream(stream: 1 | 2): void {
    const text = this.#waiting[stream];
    this.#waiting[stream] = "";
    for (let at = 0; at < text.length;) {
      const part = piece(text, at, at + MAX_UNITS);
      at += part.length;
      this.#options.send({ stream, payload: captured.apply(encodeText, this.#encoder, [part]) });
    }
  }
}

function piece(text: string, from: number, to: number): string {
  const last = to < text.length ? captured.apply(codeAt, text, [to - 1]) : 0;
  const end = last >= 0xd800 && last <= 0xdbff && to - 1 > from ? to - 1 : to;
  return captured.apply(sliceText, text, [from, end]);
}

const MAX_NOTES = 20;

export class Notes {
  #list: string[] = [];
  #count = 0;
  #left = 0;

  add(text: string): void {
    if (this.#count >= MAX_NOTES) this.#left++;
    // A block may have defined a setter on the prototype of arrays, so an assignment is not safe.
    else captured.defineProperty(this.#list, this.#count++, { value: text, enumerable: true });
  }

  take(): readonly string[] {
    const list = this.#list, left = this.#left;
    this.#list = [];
    this.#count = this.#left = 0;
    if (left > 0) {
      captured.defineProperty(list, list.length, {
        value: left === 1 ? "1 more note" : `${left} more notes`,
        enumerable: true,
      });
    }
    return list;
  }
}

const truncate = Math.trunc;
const toFixed = uncurry(Number.prototype.toFixed) as (self: number, digits: number) => string;
const KINDS = nameSet(["s", "d", "i", "f", "j", "o", "O", "c"]);

type Preview = (value: unknown) => string;

function lineOf(values: unknown[], preview: Preview): string {
  let text = "";
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    text += (i > 0 ? " " : "") + (typeof value === "string" ? value : preview(value));
  }
  return `${text}\n`;
}

function formatted(values: unknown[], preview: Preview): string {
  const first = values[0];
  if (values.length < 2 || typeof first !== "string" || look.indexOf(first, "%") < 0) return lineOf(values, preview);
  let text = "", at = 0, next = 1;
  for (let mark = look.indexOf(first, "%"); mark >= 0; mark = look.indexOf(first, "%", at)) {
    const kind = look.slice(first, mark + 1, mark + 2);
    const isMark = KINDS[kind] === true && next < values.length;
    text += look.slice(first, at, isMark || kind === "%" ? mark : mark + 1);
    if (isMark) text += marked(values[next++], { kind, preview });
    else if (kind === "%") text += "%";
    at = isMark || kind === "%" ? mark + 2 : mark + 1;
  }
  const rest = bareList<unknown>();
  rest[0] = text + look.slice(first, at);
  for (; next < values.length; next++) rest[rest.length] = values[next];
  return lineOf(rest, preview);
}

function marked(value: unknown, { kind, preview }: { readonly kind: string; readonly preview: Preview }): string {
  if (kind === "c") return "";
  if (kind === "d" || kind === "i" || kind === "f") {
    if (typeof value !== "number") return typeof value === "bigint" ? `${value}n` : "NaN";
    return `${kind === "i" ? truncate(value) : value}`;
  }
  return typeof value === "string" ? value : preview(value);
}

/** Objects print as bounded previews, so that printing cannot hang or run a getter. */
export function makeConsole(output: Output, preview: Preview): {
  readonly console: object;
  readonly print: (...values: unknown[]) => void;
} {
  const to = (stream: 1 | 2) =>
    captured.freeze((...values: unknown[]) => output.write(stream, formatted(values, preview)));
  const out = to(1), err = to(2);
  const print = (...values: unknown[]): void => output.write(1, lineOf(values, preview));
  captured.freeze(captured.defineProperty(print, "name", { value: "print" }));
  const counts: Record<string, number> = Object.create(null);
  const starts: Record<string, number> = Object.create(null);
  const members: Record<string, unknown> = {
    log: out,
    info: out,
    debug: out,
    dir: out,
    table: out,
    group: out,
    groupCollapsed: out,
    groupEnd: () => {},
    clear: () => {},
    warn: err,
    error: err,
    trace: err,
    assert: (holds: unknown, ...values: unknown[]) =>
      holds ? undefined : output.write(2, `Assertion failed${values.length > 0 ? " " : ""}${lineOf(values, preview)}`),
    count: (label = "default") => out(`${label}: ${counts[label] = (counts[label] ?? 0) + 1}`),
    time: (label = "default") => void (starts[label] = captured.now()),
    timeEnd: (label = "default") =>
      out(`${label}: ${toFixed(captured.now() - (starts[label] ?? captured.now()), 1)}ms`),
  };
  const own: Record<string, unknown> = Object.create(null);
  for (const name in members) own[name] = captured.freeze(members[name]);
  return { console: own, print };
}
