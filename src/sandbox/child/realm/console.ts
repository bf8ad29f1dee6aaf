import { bareList, uncurry } from "../../codec/intrinsics.ts";
import { captured } from "../intrinsics/captured.ts";
import { look } from "../intrinsics/look.ts";
import { nameSet } from "../intrinsics/name_set.ts";
import type { Output } from "../run/output.ts";

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

/** `%s is %d`, as consoles do it; the values that no mark takes follow. */
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

/** Prints one line per call. Objects are bounded previews, so that printing cannot hang or run a getter. */
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
