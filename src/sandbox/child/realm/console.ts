import { captured } from "../intrinsics/captured.ts";
import type { Output } from "../run/output.ts";

/** Prints one line per call. Objects are bounded previews, so that printing cannot hang or run a getter. */
export function makeConsole(output: Output, preview: (value: unknown) => string): {
  readonly console: object;
  readonly print: (...values: unknown[]) => void;
} {
  const line = (values: unknown[]): string => {
    let text = "";
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      text += (i > 0 ? " " : "") + (typeof value === "string" ? value : preview(value));
    }
    return `${text}\n`;
  };
  const to = (stream: 1 | 2) => captured.freeze((...values: unknown[]) => output.write(stream, line(values)));
  const out = to(1), err = to(2);
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
    assert: (holds: unknown, ...values: unknown[]) => holds ? undefined : err("Assertion failed", ...values),
    count: (label = "default") => out(`${label}: ${counts[label] = (counts[label] ?? 0) + 1}`),
    time: (label = "default") => void (starts[label] = captured.now()),
    timeEnd: (label = "default") =>
      out(`${label}: ${(captured.now() - (starts[label] ?? captured.now())).toFixed(1)}ms`),
  };
  const own: Record<string, unknown> = Object.create(null);
  for (const name in members) own[name] = captured.freeze(members[name]);
  return { console: own, print: out };
}
