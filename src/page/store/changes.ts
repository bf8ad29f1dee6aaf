import { signal } from "@preact/signals";
import { inApi, json } from "./api.ts";
import type { UndoPreview } from "./api_types.ts";

const latest = signal<UndoPreview | null>(null);

/** Fetches the latest file changes of a conversation that can be undone. */
async function load(conversation: string): Promise<UndoPreview> {
  return latest.value = await json<UndoPreview>(inApi("conversations", conversation, "undo"));
}

/** The same; none if the server changes no files. */
async function look(conversation: string): Promise<void> {
  await load(conversation).catch(() => latest.value = null);
}

/** Undoes the changes; resolves with the files that were restored, and those that were kept. */
async function undo(
  conversation: string,
  { changes }: UndoPreview,
): Promise<Pick<UndoPreview, "files" | "kept">> {
  const body = { changes: changes.map(({ id }) => id) };
  const { files, kept } = await json<UndoPreview>(inApi("conversations", conversation, "undo"), {
    method: "POST",
    body,
  });
  await load(conversation);
  return { files, kept };
}

/** File changes of the open conversation. */
export const changes = { latest, load, look, undo };
