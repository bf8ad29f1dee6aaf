import { resolve } from "node:path";
import type { Conversation as Branch } from "../../conversation/conversations.ts";
import { exported } from "../../conversation/exported.ts";
import type { Session } from "../channel.ts";

/** Writes the branch as Markdown, or as HTML if the name ends so, into a new file that only its owner can read. Resolves
 * with the file's path. */
export async function exportBranch(
  branch: Branch,
  { session: { conversations, workspace }, name }: { readonly session: Session; readonly name: string },
): Promise<string> {
  const path = resolve(workspace, name === "" ? `vis-${branch.branchId.slice(0, 8)}.md` : name);
  const format = path.endsWith(".html") ? "html" : "md";
  const text = [...await exported(branch, { conversations, format })].join("");
  await Deno.writeTextFile(path, text, { createNew: true, mode: 0o600 });
  return path;
}
