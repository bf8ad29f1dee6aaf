import { captured, look, nameSet } from "../realm/captured.ts";
import { errorText, inheritedText } from "../view/kinds.ts";

const MAX_FACTS = 10;
const KNOWN_KEYS = nameSet(["name", "message", "stack", "cause", "errors", "error", "suppressed", "hint", "advice"]);
const MAX_NAME = 200,
  MAX_MESSAGE = 4000,
  MAX_FRAMES = 10,
  MAX_LINES = 200,
  MAX_CAUSE = 500,
  MIDDLE_FROM = 2600,
  MIDDLE_TO = 1300;
/** V8 defines `stack` on the object or on the prototype, depending on the version. */
const stackGetter: unknown = Object.getOwnPropertyDescriptor(withoutFrames(), "stack")?.get ??
  Object.getOwnPropertyDescriptor(Error.prototype, "stack")?.get;
const FRAME = /^\s+at (?:async )?(?:(.{1,200}?) \()?((?:block|kept)[^\s():]{0,200}):(\d+):(\d+)\)?$/;
const slice = String.prototype.slice;
const split = String.prototype.split;
const match = RegExp.prototype.exec;
const errorPrototype = Error.prototype;

/** To find the position of a frame, V8 would read the whole bundle, so this error has no frames. */
function withoutFrames(): Error {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const error = new Error("probe");
  Error.stackTraceLimit = limit;
  return error;
}

export interface ThrownFrame {
  readonly where: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface ThrownError {
  readonly name: string;
  readonly message: string;
  /** The model reads this text after the message; "" if the error has none. */
  readonly advice: string;
  readonly frames: readonly ThrownFrame[];
}

/** V8 builds a stack on first read from name and message, which may be getters, so the caller must be in the block's
 * turn. */
export function thrownError(thrown: unknown, preview: (value: unknown) => string): ThrownError {
  if (!isError(thrown)) {
    return { name: "Error", message: withoutMiddle(`thrown: ${preview(thrown)}`), advice: "", frames: [] };
  }
  const { name, message } = errorText(thrown), hint = inheritedText(thrown, "hint");
  const end = `; ${inheritedText(thrown, "advice") ?? ""}`, at = message.length - end.length;
  const isAdvised = at > 0 && look.slice(message, at) === end;
  const plain = isAdvised ? look.slice(message, 0, at) : message;
  return {
    name: cut(name, MAX_NAME),
    message: withoutMiddle(`${plain}${factsOf(thrown, preview)}${causesOf(thrown, preview)}`),
    advice: cut(`${isAdvised ? end : ""}${hint ? ` (${hint})` : ""}`, MAX_MESSAGE),
    frames: framesOf(stackOf(thrown)),
  };
}

function factsOf(thrown: object, preview: (value: unknown) => string): string {
  const keys = captured.ownKeys(thrown), facts = look.create(null) as Record<string, unknown>;
  let count = 0;
  for (let i = 0; i < keys.length && count < MAX_FACTS; i++) {
    const key = keys[i]!;
    if (typeof key !== "string" || KNOWN_KEYS[key]) continue;
    const found = captured.getOwnPropertyDescriptor(thrown, key);
    if (!found?.enumerable || !look.hasOwn(found, "value")) continue;
    facts[key] = found.value;
    count++;
  }
  if (count === 0) return "";
  const text = preview(look.setPrototypeOf(facts, look.object));
  return ` ${text.length > MAX_CAUSE ? `${cut(text, MAX_CAUSE)}…` : text}`;
}

function causesOf(thrown: object, preview: (value: unknown) => string): string {
  const cause: unknown = captured.getOwnPropertyDescriptor(thrown, "cause")?.value;
  const errors: unknown = captured.getOwnPropertyDescriptor(thrown, "errors")?.value;
  const first = cause === undefined ? "" : ` [cause: ${cut(preview(cause), MAX_CAUSE)}]`;
  return errors === undefined ? first : `${first} [errors: ${cut(preview(errors), MAX_CAUSE)}]`;
}

function isError(thrown: unknown): thrown is object {
  if (typeof thrown !== "object" || thrown === null) return false;
  for (let at: object | null = thrown; at !== null && !captured.isProxy(at); at = captured.getPrototypeOf(at)) {
    if (at === errorPrototype) return at !== thrown;
  }
  return false;
}

const cut = (text: string, max: number): string => captured.apply(slice, text, [0, max]);

/** The end of a message may have the reason. */
function withoutMiddle(text: string): string {
  const left = text.length - MIDDLE_FROM - MIDDLE_TO;
  if (text.length <= MAX_MESSAGE) return text;
  const tail: string = captured.apply(slice, text, [text.length - MIDDLE_TO]);
  return `${cut(text, MIDDLE_FROM)}\n... ${left} characters left out ...\n${tail}`;
}

function stackOf(error: object): string {
  const own = captured.getOwnPropertyDescriptor(error, "stack");
  if (typeof own?.value === "string") return own.value;
  if (typeof stackGetter !== "function" || (own?.get && own.get !== stackGetter)) return "";
  try {
    const stack: unknown = captured.apply(stackGetter as () => unknown, error, []);
    return typeof stack === "string" ? stack : "";
  } catch {
    return "";
  }
}

function framesOf(stack: string): ThrownFrame[] {
  const frames: ThrownFrame[] = [];
  const lines = captured.apply(split, stack, ["\n", MAX_LINES]);
  for (let i = 0; i < lines.length && frames.length < MAX_FRAMES; i++) {
    const parts = captured.apply(match, FRAME, [lines[i] ?? ""]);
    const where = parts?.[1] ?? "", file = parts?.[2], line = parts?.[3] ?? "", column = parts?.[4] ?? "";
    if (file === undefined) continue;
    const frame: ThrownFrame = { where, file, line: +line, column: +column };
    captured.defineProperty(frames, frames.length, {
      value: frame,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return frames;
}
