import { oneLine } from "../domain/kit/text.ts";
import type { JournalEntry } from "./context/context_parts.ts";

/** Words that fill the answer's place without being one, in the languages that models slip into. */
const PLACEHOLDERS = new Set([
  ..."done ok okay result results output answer final ready complete completed finished success listing listed todo"
    .split(" "),
  ..."placeholder null undefined nan wynik gotowe zrobione wypisane fertig erledigt listo hecho terminado".split(" "),
  ..."fini terminé fait pronto feito fatto klaar готово 完成 完了".split(" "),
  ...["see above", "as above", "the answer", "the result", "the results", "your answer here", "answer here"],
  ...["task completed", "task complete", "all done", "[object object]", "object object"],
]);
const MAX_FAILURES = 5, FAILURE_CHARS = 200;

/** Why an answer must not end the query yet, or null. `resolved` is true if it came from a variable, a template or a
 * block; `entries` are the blocks whose failure counts against it. */
export function refuseFinal(
  { answer, resolved, entries }: {
    readonly answer: string;
    readonly resolved: boolean;
    readonly entries: readonly JournalEntry[];
  },
): string | null {
  const blocks = refuseForBlocks(entries);
  if (blocks !== null) return blocks;
  if (answer.trim() === "") {
    return resolved
      ? "The answer is empty: the variable or template it came from has no text"
      : "The answer is empty: put the content into it, or the name of the variable that holds it";
  }
  if (!resolved && PLACEHOLDERS.has(bare(answer))) {
    return `The answer "${
      oneLine(answer, 40)
    }" is a placeholder: put the content into it, or the name of the variable that holds it`;
  }
  return null;
}

/** Why an answer must not be accepted with the blocks of its reply, or null: one of them failed. */
export function refuseForBlocks(entries: readonly JournalEntry[]): string | null {
  const failed = entries.flatMap(({ result }, at) =>
    result.ok ? [] : [`Block ${at + 1} failed: ${oneLine(whyOf(result), FAILURE_CHARS)}`]
  );
  if (failed.length === 0) return null;
  const more = failed.length > MAX_FAILURES ? `. ${failed.length - MAX_FAILURES} more failed` : "";
  return `${failed.slice(0, MAX_FAILURES).join(". ")}${more}. Fix what failed or leave it out, then finish`;
}

/** The consequence of a refusal. If the same one occurs twice in a row, the answer is let through, so that no rule
 * repeats forever. Texts that differ only in numbers count as the same. */
export function settleRefusal(
  { reason, previous }: { readonly reason: string; readonly previous: string | null },
): { readonly letThrough: false } | { readonly letThrough: true; readonly confidence: "low"; readonly note: string } {
  if (previous === null || kindOf(previous) !== kindOf(reason)) return { letThrough: false };
  return { letThrough: true, confidence: "low", note: `Accepted although refused twice: ${oneLine(reason, 300)}` };
}

function whyOf({ error, outcome }: JournalEntry["result"]): string {
  return error ? `${error.name}: ${error.message}` : outcome;
}

/** Ignores case, quotes, emphasis and final punctuation. */
function bare(answer: string): string {
  return answer.slice(0, 200).trim().toLowerCase().replace(/^[\s"'`*_([]+|[\s"'`*_)\].!…:]+$/g, "");
}

function kindOf(reason: string): string {
  return reason.replace(/\d+/g, "#").replace(/\s+/g, " ").trim();
}
