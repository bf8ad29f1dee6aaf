import { createTwoFilesPatch } from "diff";
import { HostCallError } from "../../domain/errors.ts";
import { type ValueChange, valueChanges } from "./version_diff.ts";

const MAX_DIFF_CHARS = 200_000;

export interface VariableDiff {
  readonly same: boolean;
  /** By path; null if texts were compared line by line. */
  readonly changes: readonly ValueChange[] | null;
  /** For people and models to read. */
  readonly text: string;
}

const MARKS = { added: "+", removed: "-", changed: "~" } as const;

/** The differences between two versions of a variable. Throws `HostCallError` for texts that are too long to compare. */
export function diffVersions({ name, from, to, before, after }: {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly before: unknown;
  readonly after: unknown;
}): VariableDiff {
  const names = [`${name} v${from}`, `${name} v${to}`] as const;
  const same = `${names[0]} and v${to} are the same`;
  if (typeof before === "string" && typeof after === "string") {
    if (before === after) return { same: true, changes: null, text: same };
    return { same: false, changes: null, text: lineDiff(names, { name, before, after }) };
  }
  const { changes, more } = valueChanges(before, after);
  if (changes.length === 0 && !more) return { same: true, changes, text: same };
  const count = `${more ? "at least " : ""}${changes.length} change${changes.length === 1 ? "" : "s"}`;
  const text = [`${names[0]} → v${to}: ${count}`, ...changes.map(line), ...(more ? ["… and there may be more"] : [])];
  return { same: false, changes, text: text.join("\n") };
}

function line({ change, path, before, after }: ValueChange): string {
  const values = [before, after].filter((value) => value !== null).join(" → ");
  return `${MARKS[change]} ${path === "" ? "value" : path.replace(/^\./, "")}: ${values}`;
}

function lineDiff(
  names: readonly [string, string],
  { name, before, after }: { readonly name: string; readonly before: string; readonly after: string },
): string {
  if (before.length + after.length > MAX_DIFF_CHARS) {
    throw new HostCallError(
      `Cannot diff ${name}: ${before.length} and ${after.length} characters are too much, compare parts with varHistory`,
      { namespace: "vis", symbol: "varDiff" },
    );
  }
  const diff = createTwoFilesPatch(...names, `${before}\n`, `${after}\n`, "", "", { timeout: 1000 });
  return diff?.replace(/^=+\n/, "") ?? `--- ${names[0]}\n+++ ${names[1]}\n(the texts differ too much for a diff)`;
}
