import type { Conversations } from "../../src/conversation/conversations.ts";
import type { ExportFormat } from "../../src/conversation/export/exports.ts";
import { writeArchive } from "../../src/conversation/export/write_archive.ts";
import type { PagedRecording, Recording } from "../../src/domain/records/recording.ts";
import type { ConversationArchive } from "../../src/persistence/archive_schema.ts";
import type { Branch, ConversationMaintenance } from "../../src/persistence/store.ts";

type Exporting = Pick<ConversationMaintenance, "exportConversation">;

export async function archiveTextOf(store: Exporting, conversationId: string): Promise<string> {
  const pieces: string[] = [];
  await writeArchive((take) => store.exportConversation(conversationId, take), (piece) => {
    pieces.push(piece);
    return Promise.resolve();
  });
  return pieces.join("");
}

export async function archiveOf(store: Exporting, conversationId: string): Promise<ConversationArchive> {
  return JSON.parse(await archiveTextOf(store, conversationId));
}

export async function exportedText<O>(
  make: (recording: PagedRecording, options?: O) => AsyncIterable<string>,
  ...[{ queries, ...recording }, options]: readonly [recording: Recording, options?: O]
): Promise<string> {
  const paged = () => queries.map(({ iterations, ...query }) => ({ ...query, iterations: () => iterations }));
  return (await Array.fromAsync(make({ ...recording, queries: paged }, options))).join("");
}

export async function madeText(
  branch: Branch,
  how: { readonly conversations: Conversations; readonly format: ExportFormat },
): Promise<string> {
  await using made = await how.conversations.exports.make(branch, how);
  const bytes = await Array.fromAsync(made.pieces());
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await new Blob(bytes).arrayBuffer());
}
