import type { ChangeItem } from "../checkpoints/snapshot.ts";
import type { FsContext } from "../workspace/context.ts";

const MOST_ASKED = 50;

/** Asks the user before a conversation changes what git or Vis run or read as settings. Throws Error if the user does not
 * allow it, or cannot be asked. */
export async function askForObeyed(
  { conversationId, obeyedPaths, approve }: FsContext,
  items: readonly ChangeItem[],
): Promise<void> {
  // Outside a conversation, the user calls.
  if (conversationId === "" || !obeyedPaths) return;
  const changed = items.filter((one) => [one.before, one.after].some((state) => state && state.kind !== "dir"));
  const obeyed = await obeyedPaths(changed.map(({ path }) => path));
  if (obeyed.length === 0) return;
  const parts = [...Map.groupBy(obeyed, ({ reason }) => reason)].map(([reason, those]) =>
    `${those.map(({ path }) => path).join(", ")}, which ${reason}`
  );
  const what = `change ${parts.join("; ")}`;
  if (obeyed.length > MOST_ASKED) {
    throw new RangeError(
      `Cannot change ${obeyed.length} files that git or Vis obey: change at most ${MOST_ASKED} at once`,
    );
  }
  const scopes = [...new Set(obeyed.map(({ reason }) => `files that ${reason}`))];
  const { allowed = false, reason = "nobody can be asked here" } =
    await approve?.({ what, why: "", scope: scopes.join(", "), scopes }) ?? {};
  if (!allowed) throw new Error(`Cannot ${what}: ${reason}`);
}
