import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "../../domain/errors.ts";
import { checkAll } from "./check.ts";

/** Throws `StoreError` if a database is damaged that another file is about to be made from, since that file would be
 * taken for a sound one. `doing` names the refused action. */
export function refuseDamaged(
  db: DatabaseSync,
  { doing, ...found }: Parameters<typeof checkAll>[1] & { readonly doing: string },
): void {
  const [problem] = checkAll(db, found).problems;
  if (problem === undefined) return;
  throw new StoreError(
    `Cannot ${doing}: it is damaged (${problem}) and nothing was changed; vis db check lists what is affected, ` +
      "vis db restore COPY puts a sound backup in its place",
    "corrupt",
  );
}
