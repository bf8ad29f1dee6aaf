import pc from "picocolors";
import { visibleText } from "../../../domain/kit/text.ts";

const MAX_LINE = 200;

/** A unified diff for a terminal, coloured by kind of line and limited in length. */
export function diffLines(
  diff: string,
  { color, most }: { readonly color: boolean; readonly most: number },
): readonly string[] {
  const paint = pc.createColors(color);
  const lines = diff.replace(/\n$/, "").split("\n").filter((line) => line !== "");
  const shown = lines.slice(0, most).map((line) => {
    const text = visibleText(line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1)}…` : line);
    if (/^(---|\+\+\+) /.test(line)) return paint.bold(text);
    if (line.startsWith("+")) return paint.green(text);
    if (line.startsWith("-")) return paint.red(text);
    return line.startsWith("@@") ? paint.cyan(text) : text;
  });
  return lines.length > most ? [...shown, paint.dim(`… ${lines.length - most} more lines`)] : shown;
}
