import type { ExtensionAdmin } from "../../domain/reports/extension_admin.ts";
import { runUndo } from "../../domain/reports/undo_report.ts";

/** Undoes the file changes of the conversation's last request. Resolves with a line for the user. */
export async function undoLast(admin: Pick<ExtensionAdmin, "run">, conversationId: string): Promise<string> {
  const report = await runUndo(admin, { conversation: conversationId });
  if (report === null) return "Cannot undo: the extension that records file changes is disabled";
  const { error, files = [] } = report;
  if (error !== undefined) return error;
  return `Undid changes in ${files.map(({ path }) => path).join(", ")} (vis undo --redo reapplies them)`;
}
