import { decodeText } from "@vis/extension";
import type { ChangeItem } from "../checkpoints/snapshot.ts";
import type { FsContext } from "../workspace/context.ts";

const MAX_FILES = 20;

interface Changed extends Pick<ChangeItem, "before" | "after"> {
  readonly named: string;
  readonly encoding?: string | undefined;
}

/** Tells the model which changed files do not parse: those that are new or parsed before, and those with another fault
 * than before. What was already so may be a language that the parser does not know. */
export async function noteFaults({ note, sourceFault, signal }: FsContext, items: readonly Changed[]): Promise<void> {
  if (!sourceFault) return;
  for (const { named, before, after, encoding } of items.slice(0, MAX_FILES)) {
    signal?.throwIfAborted();
    const text = textIn(after, encoding);
    const fault = text === null ? null : await sourceFault(named, text);
    if (text === null || fault === null) continue;
    const old = textIn(before, encoding);
    const known = old === null ? null : await sourceFault(named, old);
    const isSame = known !== null && known.message === fault.message &&
      lineOf(old ?? "", known.line) === lineOf(text, fault.line);
    if (!isSame) note(`${named} was written, but does not parse: line ${fault.line}: ${fault.message}`);
  }
}

function textIn(snapshot: ChangeItem["after"], encoding: string | undefined): string | null {
  return snapshot?.kind === "file" ? decodeText(snapshot.bytes, encoding)?.text ?? null : null;
}

function lineOf(text: string, line: number): string {
  return text.split("\n", line)[line - 1] ?? "";
}
