import { UsageError } from "../../domain/errors.ts";
import { oneLine } from "../../domain/kit/text.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { fromJson, toJson } from "../database/json.ts";
import { namedQuery } from "../database/named_query.ts";
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

/** The cells of a branch with this metadata that give it the title of its first request; none if it has a title. */
export async function titleFromRequest(
  content: Content,
  { metadata, text }: { readonly metadata: string | null; readonly text: string },
): Promise<{ readonly title?: string; readonly metadata?: string }> {
  const { titledBy, ...rest } = fromJson<TitleMetadata>(metadata);
  if (titledBy !== "nobody") return {};
  return { title: await content.putText(oneLine(text, TITLE_CHARS)), metadata: toJson(rest) };
}

const titleOfBranch = namedQuery((db, { branchId }: { readonly branchId: string }) =>
  db.selectFrom("conversationState as b").select(["b.title", "b.metadata"]).where("b.id", "=", branchId)
    .forNoKeyUpdate("b")
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
