import type { ConversationArchive } from "../domain/records/conversation_archive.ts";
import type { ImportReport, LabelUse } from "../domain/records/conversation_maintenance.ts";
import type { Dependency } from "../domain/records/dependency.ts";
import { oneLine } from "../domain/text/clip.ts";
import type { StateStore } from "../domain/records/extension_state.ts";
import { HostCallError, UsageError } from "../domain/errors.ts";
import type { ExternalChat, NewConversation } from "../domain/records/new_conversation.ts";
import type { BranchPoint } from "../domain/records/new_fork.ts";
import type { VariableImage } from "../domain/query/variable.ts";
import type { VariableDiff } from "../environment/history/diff_versions.ts";
import type { Branch, Store, VariableHead } from "../persistence/store/store.ts";
import { readSettled } from "./_read_settled.ts";
import type { FoundPoint } from "./find_point.ts";

/** Larger values are named, not decoded. */
const MAX_SHOWN_BYTES = 16 * 1024 * 1024;

/** A stored version of a variable with its value. */
export interface ShownVersion {
  readonly name: string;
  /** 1-based. */
  readonly version: number;
  readonly kind: VariableImage["kind"];
  /** One line about the value. */
  readonly shape: string;
  /** Why it is lost, else "". */
  readonly reason: string;
  /** The block that made it, "" where none did. */
  readonly code: string;
  readonly createdAt: number;
  /** The value as data; null where it is too large to be shown. */
  readonly shown: { readonly value: unknown } | null;
}

/** What is done with stored conversations without a model and without a sandbox. */
export class Records {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Where a channel keeps what must outlive it, under a namespace that no extension can have: one with a slash. */
  get states(): StateStore {
    return this.#store.states;
  }

  /** What happened to the files of the database since they were opened; "" where what is written reaches them. */
  fileFault(): string {
    return this.#store.fileFault();
  }

  /** A moment of a conversation, as `findPoint` reads it. */
  async point(id: string, at: string | null = null): Promise<FoundPoint> {
    const { findPoint } = await import("./find_point.ts");
    return await findPoint(this.#store, { id, at });
  }

  /** The query that a request with this key of the last day began. */
  async keyedQuery({ branchId }: Branch, key: string): ReturnType<Store["keyedQuery"]> {
    return await this.#store.keyedQuery(branchId, key);
  }

  /** The query of a user that runs in a conversation, in whatever process; null where none does. */
  async running(conversationId: string): Promise<string | null> {
    const read = () => this.#store.runningQuery(conversationId);
    return await readSettled(this.#store, { read, runs: (found) => found !== null });
  }

  /** What queries that began since then came to, by their label. */
  async labelUse(since: number): Promise<readonly LabelUse[]> {
    return await this.#store.labelUse(since);
  }

  /** One run of a query, shown by its branch or not; null where there is none. */
  async query(queryId: string): ReturnType<Store["query"]> {
    const read = () => this.#store.query(queryId);
    return await readSettled(this.#store, { read, runs: (found) => found?.running ?? false });
  }

  /** The queries of a branch without their texts, with how many iterations it shows of each. */
  async turns({ branchId }: Branch): ReturnType<Store["turns"]> {
    return await this.#store.turns(branchId);
  }

  /** The conversation of a chat, made where there is none. */
  async ensure(facts: NewConversation & ExternalChat): Promise<Branch> {
    return await this.#store.ensureConversation({ ...facts, title: oneLine(facts.title, 100) });
  }

  /** The conversation of a chat, or null. */
  async find(chat: ExternalChat): Promise<Branch | null> {
    return await this.#store.findExternal(chat);
  }

  async rename(branch: Branch, title: string): Promise<string> {
    const short = oneLine(title, 100);
    if (short === "") throw new UsageError("Cannot rename a conversation: the title is empty");
    await this.#store.setTitle(branch.branchId, short);
    return short;
  }

  /** Newest first, system ones included. */
  async variables(branch: Branch, at?: BranchPoint): Promise<readonly VariableHead[]> {
    return await this.#store.variables(branch.branchId, at);
  }

  /** Which variables were made by reading which. */
  async dependencies(branch: Branch): Promise<readonly Dependency[]> {
    return await this.#store.dependencies(branch.branchId);
  }

  /** The newest versions of a variable, oldest first. Throws `UsageError` where there is none of that name. */
  async versions(
    branch: Branch,
    { name, newest, at }: { readonly name: string; readonly newest: number; readonly at?: BranchPoint | undefined },
  ): Promise<readonly ShownVersion[]> {
    const { valueOf } = await import("../environment/history/history.ts");
    const options = { newest, ...(at ? { at } : {}) };
    const found = await this.#store.variableVersions(branch.branchId, name, options);
    if (found.length === 0) throw new UsageError(`Cannot find variable ${name}: there is none of that name`);
    return found.map(({ version, image, code, createdAt }) => {
      const { kind, reason, bytes, source, large, summary: { shape } } = image;
      const shown = large === undefined && bytes.length + source.length <= MAX_SHOWN_BYTES;
      return { name, version, kind, shape, reason, code, createdAt, shown: shown ? { value: valueOf(image) } : null };
    });
  }

  /** How two versions differ, as `varDiff` of a block says it. */
  async diff(
    branch: Branch,
    { name, from, to }: { readonly name: string; readonly from: number; readonly to: number },
  ): Promise<VariableDiff> {
    const { varDiff } = await import("../environment/history/history.ts");
    try {
      return await varDiff(this.#store, { branchId: branch.branchId, name, from, to });
    } catch (error) {
      throw error instanceof HostCallError ? new UsageError(error.message, { cause: error }) : error;
    }
  }

  /** All of a conversation, every branch of it. */
  async archive({ conversationId }: Branch): Promise<ConversationArchive> {
    return await this.#store.exportConversation(conversationId);
  }

  /** Stores the conversation in the text of an archive under new ids, in this workspace. Throws `UsageError` for what is
   * none or contradicts itself; nothing is stored then. Nothing of it is run. */
  async import(text: string, { workspace }: { readonly workspace: string }): Promise<ImportReport> {
    const { readArchive } = await import("./archive/read_archive.ts");
    return await this.#store.importConversation(readArchive(text), { workspace });
  }
}
