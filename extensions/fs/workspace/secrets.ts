import { isSecretFile } from "@vis/extension";
import type { WorkspacePath } from "./confine.ts";
import type { FsContext } from "./context.ts";

/** Whether a file may hold keys that this conversation has not seen. */
export function isUnseenSecret(
  { secrets, ledger, root, conversationId }: FsContext,
  { path, real }: Pick<WorkspacePath, "path" | "real">,
): boolean {
  const named = isSecretFile(real, secrets) || path !== real && isSecretFile(path, secrets);
  return named && ledger.find(conversationId, `${root}/${real}`) === null;
}

/** Asks the user before a conversation gets a file that may hold keys for the first time. Throws Error if the user does
 * not allow it, or cannot be asked. */
export async function askForSecret(
  context: FsContext,
  { place, action }: { readonly place: Pick<WorkspacePath, "path" | "real">; readonly action: string },
): Promise<void> {
  // Outside a conversation, the user calls.
  if (context.conversationId === "" || !isUnseenSecret(context, place)) return;
  const { allowed = false, reason = "nobody can be asked here" } = await context.approve?.({
    what: `${action} ${place.path}, which may hold keys: the model and its service see the text`,
    why: "",
    scope: `the secret file ${place.real}`,
  }) ?? {};
  if (allowed) return;
  throw new Error(
    `Cannot ${action} ${place.path}: it may hold keys, and ${reason}; the setting secrets of the user names such files`,
  );
}
