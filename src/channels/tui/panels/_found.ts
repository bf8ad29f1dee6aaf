import type { BranchOfConversation, Conversation, Conversations } from "../../../conversation/conversations.ts";
import type { SearchHit } from "../../../domain/records/history.ts";
import type { PanelParts } from "../widgets/panel.ts";

export type ListedConversation = Awaited<ReturnType<Conversations["list"]>>[number];

/** A conversation of the list, one of its branches, or a search match. */
export type FoundItem = ListedConversation | BranchOfConversation | (SearchHit & { readonly workspace: string });

/** Conversations, and matches of a search, read at once. */
const PAGE = 100;
const HITS = 50;

/** The matches of a search. */
export interface Hits {
  readonly words: string;
  readonly items: readonly (SearchHit & { readonly workspace: string })[];
}

export function itemKey(item: FoundItem): string {
  if ("snippet" in item) return `${item.ownerId} ${item.field}`;
  return "place" in item ? item.conversationId : `branch ${item.branchId}`;
}

/** What a list of conversations has read so far. */
export class ConversationSearch {
  readonly #parts: PanelParts;
  #listed: readonly ListedConversation[] = [];
  #complete = false;
  /** The matches of the newest answered search. */
  #hits: Hits | null = null;
  /** Branches of the unfolded conversations. */
  readonly #branches = new Map<string, readonly BranchOfConversation[]>();
  /** By conversation. */
  readonly #workspaces = new Map<string, string>();

  constructor(parts: PanelParts) {
    this.#parts = parts;
  }

  /** Whether there are no more conversations to list. */
  get complete(): boolean {
    return this.#complete;
  }

  /** With the branches of unfolded conversations. */
  listed(everywhere: boolean): readonly FoundItem[] {
    const listed = everywhere ? this.#listed : this.#listed.filter((one) => this.#isHere(one));
    if (this.#branches.size === 0) return listed;
    return listed.flatMap((one) => [one, ...this.#branches.get(one.conversationId) ?? []]);
  }

  async unfold(conversationId: string): Promise<void> {
    this.#branches.set(conversationId, await this.#parts.session().conversations.branches(conversationId));
  }

  fold(conversationId: string): void {
    this.#branches.delete(conversationId);
  }

  /** Empty until the search for these words is answered. Meanwhile returns the matches of the previous search if one
   * search text extends the other. */
  hits(words: string, everywhere: boolean): readonly FoundItem[] {
    const { words: answered = "", items = [] } = this.#hits ?? {};
    if (answered === "" || !words.startsWith(answered) && !answered.startsWith(words)) return [];
    return everywhere ? items : items.filter((one) => this.#isHere(one));
  }

  async readPage(everywhere: boolean, signal: AbortSignal): Promise<void> {
    const { conversations } = this.#parts.session();
    const enough = this.listed(everywhere).length + PAGE / 2;
    while (!signal.aborted && !this.#complete && this.listed(everywhere).length < enough) {
      const after = this.#listed.at(-1)?.place;
      const page = await conversations.list({ limit: PAGE, ...(after ? { after } : {}) });
      if (after !== this.#listed.at(-1)?.place) return;
      this.#listed = [...this.#listed, ...page];
      this.#complete = page.length < PAGE;
    }
  }

  /** Returns what `answered` accepts. The search covers all workspaces, so it reads more matches if only one workspace
   * is shown. */
  async search(
    words: string,
    { everywhere, signal }: { readonly everywhere: boolean; readonly signal: AbortSignal },
  ): Promise<Hits> {
    const { conversations } = this.#parts.session();
    const items = await conversations.stored.search(words, { limit: everywhere ? HITS : HITS * 4 });
    for (const { conversationId } of items) {
      if (this.#workspaces.has(conversationId) || signal.aborted) continue;
      const branch: Conversation | null = await conversations.byId(conversationId).catch(() => null);
      this.#workspaces.set(conversationId, branch?.workspace ?? "");
    }
    return {
      words,
      items: items.map((hit) => ({ ...hit, workspace: this.#workspaces.get(hit.conversationId) ?? "" })),
    };
  }

  answered(hits: Hits): void {
    this.#hits = hits;
  }

  renamed({ branchId }: FoundItem, title: string): void {
    const named = <T extends { readonly branchId: string; readonly title: string }>(one: T): T =>
      one.branchId === branchId ? { ...one, title } : one;
    this.#listed = this.#listed.map(named);
    for (const [id, branches] of this.#branches) this.#branches.set(id, branches.map(named));
    if (this.#hits) this.#hits = { ...this.#hits, items: this.#hits.items.map(named) };
  }

  deleted({ conversationId }: FoundItem): void {
    const others = (one: { readonly conversationId: string }): boolean => one.conversationId !== conversationId;
    this.#listed = this.#listed.filter(others);
    if (this.#hits) this.#hits = { ...this.#hits, items: this.#hits.items.filter(others) };
  }

  #isHere({ workspace }: { readonly workspace: string }): boolean {
    return workspace === this.#parts.session().workspace;
  }
}
