import { basename } from "node:path";
import { matchesKey } from "@earendil-works/pi-tui";
import {
  type BranchOfConversation,
  type Conversation,
  type Conversations,
  forkNumbers,
} from "../../../conversation/conversations.ts";
import { ago } from "../../../domain/kit/text.ts";
import { bestHits, type SearchHit } from "../../../domain/records/history.ts";
import { amounts, fitted, flat, paint } from "../text/one_line.ts";
import { BasePanel, type PanelParts } from "./panel.ts";
import { filterInput, LineInput, List, movement, row } from "./widgets.ts";

const AHEAD = 40;

interface Asked {
  readonly item: FoundItem;
  readonly title: LineInput | null;
}

export class ConversationList extends BasePanel {
  readonly #found: ConversationSearch;
  #everywhere = false;
  readonly #input = filterInput("words of requests, code or answers");
  readonly #list = new List<FoundItem>({
    key: itemKey,
    draw: (item, place) => {
      const shown = this.parts.branch();
      const one = "place" in item || "snippet" in item;
      const here = one ? shown?.conversationId === item.conversationId : shown?.branchId === item.branchId;
      return itemLines(item, { ...place, here, everywhere: this.#everywhere, now: Date.now() });
    },
  });
  #asked: Asked | null = null;

  constructor(parts: PanelParts) {
    super(parts);
    this.#found = new ConversationSearch(parts);
    this.#more();
  }

  get title(): string {
    return this.#everywhere ? "Conversations, all" : "Conversations of this workspace";
  }

  get hint(): string {
    if (this.#asked === null) return "Enter opens · Tab all · → branches · ^R rename · ^D delete · Esc";
    return this.#asked.title === null ? "y deletes · any other key cancels" : "Enter renames · Esc";
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    const below = this.#asked === null
      ? this.below(this.#told(), { empty: this.#list.items.length === 0 })
      : this.#question(this.#asked, width);
    return [...this.#input.render(width), ...this.#list.render(width, height - 1 - below.length), ...below];
  }

  protected override back(): void {
    if (this.#asked === null) this.close();
    else this.#asked = null;
  }

  protected override key(data: string): void {
    if (this.#asked !== null) return this.#answer(data, this.#asked);
    const moved = movement(data);
    const item = this.#list.selected;
    if (moved !== null) {
      this.#list.move(moved);
      this.#more();
    } else if (matchesKey(data, "tab")) this.#toggle();
    else if (item === undefined || !this.#act(data, item)) {
      if (this.#input.handle(data)) this.#search();
    }
  }

  protected override click(line: number): void {
    const again = this.#asked === null && this.#list.press(line - 1);
    if (again && this.#list.selected) this.#open(this.#list.selected);
  }

  #act(data: string, item: FoundItem): boolean {
    const browsing = this.#input.value === "";
    if (matchesKey(data, "enter")) this.#open(item);
    else if (browsing && matchesKey(data, "right")) this.#unfold(item);
    else if (browsing && matchesKey(data, "left")) this.#fold(item);
    else if (matchesKey(data, "ctrl+r")) {
      this.#asked = { item, title: new LineInput({ prompt: "title: ", value: flat(item.title, 100) }) };
    } else if (matchesKey(data, "ctrl+d") || matchesKey(data, "delete")) this.#asked = { item, title: null };
    else return false;
    return true;
  }

  #told(): string {
    if (this.#list.items.length > 0) return "";
    if (this.#input.value.trim() !== "") return "  nothing contains all of these words";
    return this.#everywhere ? "  no conversations yet" : "  no conversations in this workspace yet; Tab shows all";
  }

  #question({ item, title }: Asked, width: number): readonly string[] {
    if (title !== null) return title.render(width);
    return [paint.bold(`Delete “${flat(item.title, Math.max(8, width - 40))}” with all branches? y/n`)];
  }

  #toggle(): void {
    this.#everywhere = !this.#everywhere;
    this.#show("first");
    this.#more();
    this.#search();
  }

  #show(from: "kept" | "first"): void {
    const words = this.#input.value.trim();
    this.#list.set(words === "" ? this.#found.listed(this.#everywhere) : this.#found.hits(words, this.#everywhere), {
      from,
    });
  }

  #more(): void {
    const { items, at } = this.#list;
    if (this.#input.value.trim() !== "" || items.length - at > AHEAD || this.#found.complete) return;
    this.load("page", {
      work: (signal) => this.#found.readPage(this.#everywhere, signal),
      then: () => {
        this.#show("kept");
        this.#more();
      },
    });
  }

  #search(): void {
    this.#show("first");
    const words = this.#input.value.trim();
    if (words === "") return;
    const everywhere = this.#everywhere;
    this.load("search", {
      work: (signal) => this.#found.search(words, { everywhere, signal }),
      then: (hits) => {
        this.#found.answered(hits);
        this.#show("kept");
      },
    });
  }

  #unfold({ conversationId }: FoundItem): void {
    this.load("branches", { work: () => this.#found.unfold(conversationId), then: () => this.#show("kept") });
  }

  #fold({ conversationId }: FoundItem): void {
    this.#found.fold(conversationId);
    this.#list.select(conversationId);
    this.#show("kept");
  }

  #open(item: FoundItem): void {
    this.leaveFor(async () => {
      const { conversations } = this.parts.session();
      if ("snippet" in item) await this.parts.act.show(await conversations.byId(item.conversationId), item);
      else await this.parts.act.show(item);
    });
  }

  #answer(data: string, { item, title }: Asked): void {
    const { conversations } = this.parts.session();
    if (title === null) {
      this.#asked = null;
      if (data !== "y" && data !== "Y") return;
      return this.load("change", { work: () => this.#delete(item), then: () => this.#show("kept") });
    }
    if (!matchesKey(data, "enter")) return void title.handle(data);
    this.#asked = null;
    this.load("change", {
      work: async () => await conversations.records.rename(await conversations.byId(item.branchId), title.value),
      then: (kept) => {
        this.#found.renamed(item, kept);
        this.#show("kept");
      },
    });
  }

  async #delete(item: FoundItem): Promise<void> {
    const { conversations } = this.parts.session();
    await conversations.delete(await conversations.byId(item.branchId));
    this.#found.deleted(item);
    if (this.parts.branch()?.conversationId === item.conversationId) await this.parts.act.show(null);
  }
}

type ListedConversation = Awaited<ReturnType<Conversations["list"]>>[number];

type FoundItem = ListedConversation | BranchItem | FoundConversation;

type FoundConversation = SearchHit & { readonly workspace: string; readonly matches: number };

interface BranchItem extends BranchOfConversation {
  readonly last: { readonly text: string; readonly createdAt: number } | null;
  /** The fork is at the request with this number in the parent branch. */
  readonly number: number | undefined;
}

const PAGE = 100;
const HITS = 50;

interface Hits {
  readonly words: string;
  readonly items: readonly FoundConversation[];
}

function itemKey(item: FoundItem): string {
  return "place" in item || "snippet" in item ? item.conversationId : `branch ${item.branchId}`;
}

class ConversationSearch {
  readonly #parts: PanelParts;
  #listed: readonly ListedConversation[] = [];
  #complete = false;
  #hits: Hits | null = null;
  readonly #branches = new Map<string, readonly BranchItem[]>();
  readonly #workspaces = new Map<string, string>();

  constructor(parts: PanelParts) {
    this.#parts = parts;
  }

  get complete(): boolean {
    return this.#complete;
  }

  listed(everywhere: boolean): readonly FoundItem[] {
    const listed = everywhere ? this.#listed : this.#listed.filter((one) => this.#isHere(one));
    if (this.#branches.size === 0) return listed;
    return listed.flatMap((one) => [one, ...this.#branches.get(one.conversationId) ?? []]);
  }

  async unfold(conversationId: string): Promise<void> {
    const { conversations } = this.#parts.session();
    const items: BranchItem[] = [];
    const branches = await conversations.branches(conversationId);
    const numbers = await forkNumbers(conversations, branches);
    for (const branch of branches) {
      const [last = null] = await conversations.queries(branch, { newest: 1 });
      items.push({ ...branch, last, number: numbers.get(branch.fork?.queryId ?? "") });
    }
    this.#branches.set(conversationId, items);
  }

  fold(conversationId: string): void {
    this.#branches.delete(conversationId);
  }

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

  /** The search has no filter for the workspace, so a list of one workspace needs more matches. */
  async search(
    words: string,
    { everywhere, signal }: { readonly everywhere: boolean; readonly signal: AbortSignal },
  ): Promise<Hits> {
    const { conversations } = this.#parts.session();
    const hits = await conversations.stored.search(words, { limit: everywhere ? HITS * 2 : HITS * 4 });
    const best = bestHits(hits);
    for (const { hit: { conversationId } } of best) {
      if (this.#workspaces.has(conversationId) || signal.aborted) continue;
      const branch: Conversation | null = await conversations.byId(conversationId).catch(() => null);
      this.#workspaces.set(conversationId, branch?.workspace ?? "");
    }
    return {
      words,
      items: best.map(({ hit, others }) => (
        { ...hit, workspace: this.#workspaces.get(hit.conversationId) ?? "", matches: others + 1 }
      )),
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

function itemLines(
  item: FoundItem,
  { width, selected, here, everywhere, now }: {
    readonly width: number;
    readonly selected: boolean;
    readonly here: boolean;
    readonly everywhere: boolean;
    readonly now: number;
  },
): readonly string[] {
  const workspace = everywhere ? [flat(basename(item.workspace), 24)] : [];
  const name = `${here ? "● " : ""}${flat(item.title) || "untitled"}`;
  if ("place" in item) {
    const facts = [ago(item.activeAt, now), ...workspace, amounts.count(item.queries, "request")];
    return [row(name, { facts, width, selected })];
  }
  if (!("snippet" in item)) {
    const { fork, queries, createdAt, last, number } = item;
    const at = number === undefined ? "a request" : `request ${number}`;
    const from = fork === null
      ? "first"
      : fork.position < 0
      ? `before ${at}`
      : `after step ${fork.position + 1} of ${at}`;
    const facts = [ago(last?.createdAt ?? createdAt, now), amounts.count(queries, "own request")];
    const ending = `${here ? "● " : ""}${last === null ? "no request yet" : flat(last.text)}`;
    return [row(`    ${ending}`, { detail: from, facts, width, selected })];
  }
  const place = item.position === null ? item.kind : `${item.kind} of step ${item.position + 1}`;
  const facts = [ago(item.at, now), ...workspace, place, ...(item.matches > 1 ? [`${item.matches} matches`] : [])];
  return [row(name, { facts, width, selected }), `    ${excerpt(item.snippet, width - 4)}`];
}

function excerpt(snippet: string, width: number): string {
  const shown = fitted(flat(snippet, 400), { width });
  return shown.split(/(\[[^[\]]*\])/).map((part, at) => at % 2 === 1 ? paint.bold(part) : paint.dim(part)).join("");
}
