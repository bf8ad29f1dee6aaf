import { visibleText } from "../../domain/kit/text.ts";
import type { Io } from "../channel.ts";

/** Writes what a command found to stdout: as JSON if its flags say so, otherwise as lines without control characters.
 * Returns the exit code 0. */
export function printReport(
  value: unknown,
  lines: readonly string[],
  { io, flags }: {
    readonly io: Pick<Io, "stdout">;
    readonly flags: { readonly json?: boolean | undefined; readonly output?: "text" | "json" };
  },
): number {
  if (flags.json || flags.output === "json") io.stdout(jsonText(value, { indent: 2 }));
  else for (const line of lines) io.stdout(`${visibleText(line)}\n`);
  return 0;
}

/** A value as JSON and a line end. Characters that control a terminal or that nobody sees are escapes of JSON. */
export function jsonText(value: unknown, { indent = 0 }: { readonly indent?: number } = {}): string {
  return `${visibleText(JSON.stringify(value, null, indent))}\n`;
}

/** A signal that Ctrl-C and other signals of the system abort until the end of the scope. */
export function interrupt(io: Pick<Io, "onInterrupt">): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const stop = io.onInterrupt(() => controller.abort());
  return { signal: controller.signal, [Symbol.dispose]: stop };
}
