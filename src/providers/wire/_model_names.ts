import { asRecord } from "../../domain/kit/json.ts";

/** The names in a list of models, in the shapes that services use; null if it is not a list. `next` is always null. */
export function namesIn(body: unknown): { readonly ids: readonly string[]; readonly next: null } | null {
  const { data, models } = asRecord(body);
  const list = [body, data, models].find(Array.isArray);
  if (list === undefined) return null;
  const ids = list.map((item: unknown) => asRecord(item).id ?? asRecord(item).name ?? item);
  return { ids: ids.filter((id: unknown) => typeof id === "string"), next: null };
}
