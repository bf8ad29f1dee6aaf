import type { ExtensionAdmin } from "../../domain/reports/extension_admin.ts";

interface Report {
  readonly error?: string;
  readonly files?: readonly { readonly path: string }[];
}

/** Undoes the file changes of the conversation's last request. Resolves with a line for the user. */
export async function undoLast(admin: Pick<ExtensionAdmin, "run">, conversationId: string): Promise<string> {
  const printed: string[] = [];
  const code = await admin.run(["undo", `--conversation=${conversationId}`], (text) => void printed.push(text));
  if (code === null) return "Cannot undo: the extension that records file changes is disabled";
  const { error, files = [] }: Report = JSON.parse(printed.join(""));
  if (error !== undefined) return error;
  return `Undid changes in ${files.map(({ path }) => path).join(", ")} (vis undo --redo reapplies them)`;
}
