import { matchesKey } from "@earendil-works/pi-tui";
import type { PanelParts } from "../widgets/panel.ts";
import { BasePanel } from "../widgets/base_panel.ts";
import { flat } from "../widgets/flat.ts";
import { ConversationSearch, type FoundItem, itemKey } from "./_found.ts";
import { itemLines } from "./_item_lines.ts";
import { LineInput } from "../widgets/line_input.ts";
import { List } from "../widgets/list.ts";
import { movement } from "../widgets/movement.ts";
import { paint } from "../widgets/paint.ts";

/** Rows from the end of the list at which more is read. */
const AHEAD = 40;

/** A question about a conversation: a new title, or whether to delete it. */
interface Asked {
  readonly item: FoundItem;
  readonly title: LineInput | null;
}

/** Conversations, newest first, or the matches for the typed words. Enter opens one. */
export class ConversationList extends BasePanel {
  readonly #found: ConversationSearch;
  #everywhere = false;
  readonly #input = new LineInput({ prompt: "> ", placeholder: "words of requests, code or answers" });
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

  /** Whether the key acts on the selected one. */
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

  /** Reads the next page when the end of the list is near. */
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
      await this.parts.act.show("snippet" in item ? await conversations.byId(item.branchId) : item);
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
    // The conversation on the screen was deleted.
    if (this.parts.branch()?.conversationId === item.conversationId) await this.parts.act.show(null);
  }
}
