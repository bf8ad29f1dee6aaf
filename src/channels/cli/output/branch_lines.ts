import type { BranchOfConversation } from "../../../conversation/conversations.ts";
import { oneLine } from "../../../domain/kit/text.ts";

/** The branches of a conversation as a tree, one per line; empty if there is only one branch. `shown` is marked. */
export function branchLines(
  branches: readonly BranchOfConversation[],
  { shown }: { readonly shown?: string } = {},
): readonly string[] {
  if (branches.length < 2) return [];
  const known = new Set(branches.map(({ branchId }) => branchId));
  const below = new Map<string | null, BranchOfConversation[]>();
  for (const branch of branches) {
    const parent = branch.parentBranchId !== null && known.has(branch.parentBranchId) ? branch.parentBranchId : null;
    below.set(parent, [...below.get(parent) ?? [], branch]);
  }
  const lines: string[] = [];
  const titles = new Map(branches.map(({ branchId, title }) => [branchId, title]));
  const walk = (parent: string | null, indent: string): void => {
    const list = below.get(parent) ?? [];
    for (const [at, branch] of list.entries()) {
      const last = at === list.length - 1;
      const marks = [
        ...(branch === branches.at(-1) ? ["latest"] : []),
        ...(branch.branchId === shown ? ["shown here"] : []),
      ];
      const count = `${branch.queries} ${branch.queries === 1 ? "request" : "requests"}`;
      const title = titles.get(parent ?? "") === branch.title ? [] : [oneLine(branch.title, 60)];
      const facts = [placeOf(branch), count, ...marks, ...title].join(" · ");
      lines.push(`${indent}${last ? "└" : "├"} ${branch.branchId}  ${facts}`);
      walk(branch.branchId, `${indent}${last ? "  " : "│ "}`);
    }
  };
  walk(null, "");
  return lines;
}

function placeOf({ fork }: BranchOfConversation): string {
  if (fork === null) return "first branch";
  const query = `request ${fork.queryId}`;
  return fork.position < 0 ? `from before ${query}` : `from step ${fork.position + 1} of ${query}`;
}
