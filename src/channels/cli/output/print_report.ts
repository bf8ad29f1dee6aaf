import { visibleText } from "../../../domain/kit/text.ts";
import type { Io } from "../../channel.ts";
import { jsonText } from "./json_text.ts";

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
