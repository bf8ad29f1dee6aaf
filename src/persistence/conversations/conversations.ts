import { newId } from "../../domain/kit/ids.ts";
import type { ExternalChat, NewConversation, NewFork } from "../../domain/records/conversations.ts";
import { createFork } from "../branches/forks.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { insertRow } from "../database/insert_row.ts";
import { toJson } from "../database/json.ts";
import { nextActivity } from "../runs/activity.ts";
import type { Branch } from "../store/conversation_store.ts";
import { findBranch } from "./branch_rows.ts";
import { externalIn } from "./chats.ts";

/** The rows of `conversation_soul` and `conversation_state`. */
export class ConversationRows {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  create(facts: NewConversation): Promise<Branch> {
    return this.#db.write((tx) => this.#insert(tx, facts));
  }

  async ensure(facts: NewConversation & ExternalChat): Promise<Branch> {
    const made = await this.#db.write(async (tx) => {
      await tx.lock(`chat ${facts.channel} ${facts.externalId}`);
      return await externalIn(tx, facts) === null ? await this.#insert(tx, facts) : null;
    });
    return made ?? await this.findExternal(facts) ?? await this.ensure(facts); // it was deleted in the meantime
  }

  async findExternal(chat: ExternalChat): Promise<Branch | null> {
    const id = await externalIn(this.#db, chat);
    return id === null ? null : await findBranch(this.#db, id);
  }

  async fork(fork: NewFork): Promise<Branch> {
    const id = await createFork(this.#db, { fork, now: this.#now() });
    const branch = await findBranch(this.#db, id);
    if (!branch) throw new Error(`Cannot find branch ${id}, which was just made`);
    return branch;
  }

  async #insert(
    tx: Database,
    { title, channel, workspace, externalId, untitled = false }: NewConversation,
  ): Promise<Branch> {
    const content = new Content(tx);
    const createdAt = this.#now();
    const [conversationId, branchId] = [newId(), newId()];
    const tenant = tx.ownTenant;
    const metadata = toJson({ channel, workspace, ...(externalId === undefined ? {} : { externalId }) });
    const soul = {
      id: conversationId,
      metadata: await content.putText(metadata),
      createdAt,
      activity: await nextActivity(tx),
      tenant,
    };
    await insertRow(tx, "conversationSoul", soul);
    await insertRow(tx, "conversationState", {
      id: branchId,
      conversationSoulId: conversationId,
      parentStateId: null,
      title: await content.putText(title),
      version: 0,
      metadata: toJson(untitled ? { titledBy: "nobody" } : {}),
      createdAt,
      queries: 0,
    });
    return { conversationId, branchId, tenant, title: title.toWellFormed(), workspace, createdAt };
  }
}
