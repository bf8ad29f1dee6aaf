import { basename } from "node:path";
import { ago } from "../../../domain/kit/text.ts";
import { amounts } from "../text/amounts.ts";
import { fitted } from "../widgets/fitted.ts";
import { flat } from "../widgets/flat.ts";
import { paint } from "../widgets/paint.ts";
import { row } from "../widgets/row.ts";
import type { FoundItem } from "./_found.ts";

/** A conversation in one line; for a match also the excerpt, with the words highlighted. */
export function itemLines(
  item: FoundItem,
  { width, selected, here, everywhere, now }: {
    readonly width: number;
    readonly selected: boolean;
    /** Whether it is the one on the screen. */
    readonly here: boolean;
    readonly everywhere: boolean;
    readonly now: number;
  },
): readonly string[] {
  const workspace = everywhere ? [flat(basename(item.workspace), 24)] : [];
  const name = `${here ? "● " : ""}${flat(item.title) || "untitled"}`;
  if ("place" in item) {
    const facts = [ago(item.activeAt, now), ...workspace, amounts.count(item.queries, "request")];
    return [row(name, { facts, width, selected })];
  }
  if (!("snippet" in item)) {
    const { fork, queries, createdAt } = item;
    const from = fork === null
      ? "first branch"
      : fork.position < 0
      ? "forked before a request"
      : `forked after step ${fork.position + 1}`;
    const facts = [ago(createdAt, now), amounts.count(queries, "own request")];
    return [row(`    ${name}`, { detail: from, facts, width, selected })];
  }
  const place = item.position === null ? item.kind : `${item.kind} of step ${item.position + 1}`;
  const facts = [ago(item.at, now), ...workspace, place];
  return [row(name, { facts, width, selected }), `    ${excerpt(item.snippet, width - 4)}`];
}

/** Highlights the words in `[` and `]`; everything else is dim. */
function excerpt(snippet: string, width: number): string {
  const shown = fitted(flat(snippet, 400), { width });
  return shown.split(/(\[[^[\]]*\])/).map((part, at) => at % 2 === 1 ? paint.bold(part) : paint.dim(part)).join("");
}
