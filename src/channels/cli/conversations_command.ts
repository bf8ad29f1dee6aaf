import { oneLine } from "../../domain/clip.ts";
import { UsageError } from "../../domain/errors.ts";
import type { RecordedQuery, Recording } from "../../domain/recording.ts";
import type { Io, Services, Session } from "../channel.ts";
import { conversationText } from "./conversation_text.ts";
import { terminalText } from "./terminal_text.ts";

export interface ConversationsFlags {
  readonly output: "text" | "json";
  readonly db?: string | undefined;
}

interface Given<F> {
  readonly services: Services;
  readonly io: Io;
  readonly flags: F;
}

/** `vis conversations list`: one line each, the one with the newest query first. */
export async function listConversations(
  { services, io, flags }: Given<ConversationsFlags & { readonly limit: number }>,
): Promise<number> {
  const found = await browse(services, flags, ({ conversations }) => conversations.list({ limit: flags.limit }));
  if (flags.output === "json") {
    const listed = found.map(({ conversationId, title, workspace, queries, createdAt }) => {
      return { conversationId, title, workspace, queries, createdAt };
    });
    io.stdout(`${JSON.stringify(listed, null, 2)}\n`);
    return 0;
  }
  for (const { conversationId, createdAt, queries, title } of found) {
    const when = new Date(createdAt).toISOString().slice(0, 16).replace("T", " ");
    const count = `${queries} ${queries === 1 ? "query" : "queries"}`;
    io.stdout(`${terminalText(`${conversationId}  ${when}  ${count.padStart(11)}  ${oneLine(title, 80)}`)}\n`);
  }
  if (found.length === 0) io.stderr("No conversation is stored yet\n");
  return 0;
}

/** `vis conversations show`: all of one conversation. */
export async function showConversation(
  id: string,
  { services, io, flags }: Given<ConversationsFlags & { readonly query?: number | undefined }>,
): Promise<number> {
  const whole = await browse(
    services,
    flags,
    async ({ conversations }) => await conversations.recording(await conversations.byId(id)),
  );
  const recording = flags.query === undefined ? whole : only(whole, flags.query);
  if (flags.output === "json") io.stdout(`${JSON.stringify(printable(recording), null, 2)}\n`);
  else io.stdout(terminalText(conversationText(recording, { first: flags.query ?? 1 })));
  return 0;
}

async function browse<T>(
  services: Services,
  { db }: ConversationsFlags,
  read: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await services.open({ db, browse: true });
  try {
    return await read(session);
  } finally {
    await session.close();
  }
}

function only(recording: Recording, number: number): Recording {
  const query = recording.queries[number - 1];
  if (query) return { ...recording, queries: [query] };
  throw new UsageError(`Cannot show query ${number}: the conversation has ${recording.queries.length}`);
}

/** The same with the bytes of images counted instead of written out. */
function printable(recording: Recording): object {
  return { ...recording, queries: recording.queries.map(printableQuery) };
}

function printableQuery(query: RecordedQuery): object {
  return {
    ...query,
    images: query.images.map((image) =>
      image.kind === "url" ? image : { kind: image.kind, mediaType: image.mediaType, bytes: image.bytes.length }
    ),
    iterations: query.iterations.map((iteration) => ({
      ...iteration,
      children: iteration.children.map(printableQuery),
    })),
  };
}
