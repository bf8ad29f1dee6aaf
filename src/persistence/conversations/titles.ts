import { oneLine } from "../../domain/text/clip.ts";
import { UsageError } from "../../domain/errors.ts";
import { namedQuery } from "../database/named_query.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { intact } from "../schema/intact.ts";
import { fromJson, toJson } from "../database/json.ts";
import { updateRow } from "../database/update_row.ts";

const TITLE_CHARS = 100;

/** The origin of a branch's title, in `conversation_state.metadata`; absent if the title is from the request. */
interface TitleMetadata {
  readonly titledBy?: "nobody" | "user" | "model";
}

interface Titled {
  readonly title: string;
  readonly metadata: TitleMetadata;
}

/** `Store.setTitle`. */
export function setTitle(db: Database, { branchId, title }: { branchId: string; title: string }): Promise<void> {
  return db.write(async (tx) => {
    const before = await read(tx, branchId);
    if (!before) throw new UsageError(`Cannot rename branch ${branchId}: no branch has this id`);
    await write(tx, { branchId, title, metadata: { ...before.metadata, titledBy: "user" } });
  });
}

/** `Store.suggestTitle`. */
export function suggestTitle(
  db: Database,
  { branchId, title, instead }: { readonly branchId: string; readonly title: string; readonly instead: string },
): Promise<boolean> {
  return db.write(async (tx) => {
    const before = await read(tx, branchId);
    if (before?.title !== instead.toWellFormed() || before.metadata.titledBy === "user") return false;
    await write(tx, { branchId, title, metadata: { ...before.metadata, titledBy: "model" } });
    return true;
  });
}

/** Takes the title of a branch without one from its first request, in the transaction `tx`. Throws `UsageError` if the
 * branch no longer exists. */
export async function titleFromRequest(
  tx: Database,
  { branchId, text }: { readonly branchId: string; readonly text: string },
): Promise<void> {
  const before = await read(tx, branchId);
  if (!before) throw new UsageError(`Cannot continue branch ${branchId}: its conversation was deleted`);
  if (before.metadata.titledBy !== "nobody") return;
  const { titledBy: _nobody, ...metadata } = before.metadata;
  await write(tx, { branchId, title: oneLine(text, TITLE_CHARS), metadata });
}

const titleOfBranch = namedQuery((db, { branchId }: { readonly branchId: string }) =>
  db.selectFrom("conversationState as b").select(["b.title", "b.metadata"]).where("b.id", "=", branchId)
    .select(intact("conversationState", "b")).forNoKeyUpdate("b")
);

async function read(tx: Database, branchId: string): Promise<Titled | null> {
  const [row] = await titleOfBranch(tx, { branchId });
  if (!row) return null;
  const content = new Content(tx);
  await content.load([row.title]);
  return { title: content.text(row.title ?? ""), metadata: fromJson<TitleMetadata>(row.metadata) };
}

async function write(
  tx: Database,
  { branchId, title, metadata }: Titled & { readonly branchId: string },
): Promise<void> {
  const cells = { title: await new Content(tx).putText(title), metadata: toJson({ ...metadata }) };
  await updateRow(tx, "conversationState", { id: branchId, changes: cells });
}
