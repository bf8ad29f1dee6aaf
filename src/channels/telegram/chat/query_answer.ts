import type { Conversation } from "../../../conversation/conversations.ts";
import { BusyError } from "../../../domain/errors.ts";
import type { Approve } from "../../../domain/query/approval.ts";
import type { Emit } from "../../../domain/query/query_event.ts";
import type { QueryResult } from "../../../domain/query/query_schemas.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import type { Session } from "../../channel.ts";
import type { PendingMessage } from "../inbound/entry.ts";
import { readAttachments } from "./attachments.ts";
import type { BotParts } from "./bot_parts.ts";
import { userLabel } from "./user_label.ts";

/** A query that was interrupted this often by the end of the program is not run again: it may be the cause. */
const MAX_ATTEMPTS = 3;
const LOOK_AGAIN_MS = 2_000;

type Answer = Omit<QueryResult, "confidence" | "value">;

export interface QueryAnswerOptions {
  readonly branch: Conversation;
  readonly session: Session;
  readonly signal: AbortSignal;
  readonly emit: Emit;
  readonly approve: Approve;
  readonly parts: BotParts;
  readonly entry: () => PendingMessage;
  /** Stores the entry before the step it records. */
  readonly save: (change: Partial<PendingMessage>) => Promise<void>;
}

/** The result of a message's query. The query begins only once: an earlier process may have begun or ended it. An
 * interrupted query is run again from the state before it. Rejects like `ask`, and with `Cancelled` when the signal
 * aborts. */
export async function queryAnswer(options: QueryAnswerOptions): Promise<Answer> {
  const { parts, signal } = options;
  for (;;) {
    try {
      const known = await knownQuery(options);
      if (known === null) return await begin(options);
      if (!known.running) return isCut(known, options.entry()) ? await again(known, options) : known;
    } catch (error) {
      if (!(error instanceof BusyError)) throw error;
    }
    // Another process holds the conversation, or this very query.
    await parts.clock.sleep(LOOK_AGAIN_MS, signal);
  }
}

/** The newest attempt that has begun. */
async function knownQuery({ branch, session, entry }: QueryAnswerOptions): Promise<StoredQuery | null> {
  const { records, stored } = session.conversations;
  const { queryId } = entry();
  const keyed = await stored.keyedQuery(branch.branchId, keyOf(entry()));
  const id = keyed?.queryId ?? queryId;
  return id === undefined ? null : await records.query(id);
}

function isCut({ reason }: StoredQuery, { suspended = false, attempts = 1 }: PendingMessage): boolean {
  return attempts < MAX_ATTEMPTS && (reason === "process_lost" || suspended && reason === "cancelled");
}

async function begin(options: QueryAnswerOptions): Promise<QueryResult> {
  const { branch, session, signal, emit, approve, parts, entry, save } = options;
  const { message } = entry();
  if (entry().attempts === undefined) await save({ attempts: 1 });
  const { api, outbox } = parts;
  const { images, variables } = await readAttachments(message.files, { api, outbox, chat: message.chat.id, signal });
  return await session.conversations.ask(branch, requestOf(entry()), {
    ...{ signal, emit, approve, images, variables },
    label: userLabel(message.from.id),
    limits: limitsOf(parts),
    requestKey: requestKey(options),
  });
}

/** The cost of a user's requests is counted where it has a quota. */
function limitsOf({ quota }: Pick<BotParts, "quota">) {
  return { costUsd: null, wallMs: null, priced: quota.costUsdPerDay !== null };
}

async function again(cut: StoredQuery, options: QueryAnswerOptions): Promise<QueryResult> {
  const { branch, session, signal, emit, approve, parts, entry, save } = options;
  const { attempts = 1, message } = entry();
  const begun = await session.conversations.stored.keyedQuery(branch.branchId, keyOf(entry())) !== null;
  await save({ queryId: cut.queryId, suspended: false, ...(begun ? { attempts: attempts + 1 } : {}) });
  // A query's input is stored with its first iteration.
  if (cut.iterations === 0 && message.files.some(({ kind }) => kind === "document")) return await begin(options);
  return await session.conversations.retry(cut.queryId, {
    ...{ signal, emit, approve },
    label: userLabel(message.from.id),
    limits: limitsOf(parts),
    requestKey: requestKey(options),
    seenFrom: branch,
  });
}

function requestKey({ branch, entry }: QueryAnswerOptions) {
  return { branchId: branch.branchId, key: keyOf(entry()), fingerprint: "telegram" };
}

function keyOf({ message, attempts = 1 }: PendingMessage): string {
  return `telegram/${message.chat.id}/${message.updateId}/${attempts}`;
}

/** In a group the model must know who is speaking. */
function requestOf({ message: { text, files, from, chat } }: PendingMessage): string {
  const names = files.map(({ name }) => name).join(", ");
  const words = text.trim() === "" ? `Here is ${names}, sent without a message.` : text;
  return chat.group ? `${from.name}: ${words}` : words;
}
