import { matchesKey } from "@earendil-works/pi-tui";
import type { Conversation, StoredView } from "../../../conversation/conversations.ts";
import type { PanelParts } from "../widgets/panel.ts";
import { BasePanel } from "../widgets/base_panel.ts";
import { flat } from "../widgets/flat.ts";
import { LineInput } from "../widgets/line_input.ts";
import { List } from "../widgets/list.ts";
import { movement } from "../widgets/movement.ts";
import { paint } from "../widgets/paint.ts";
import { row } from "../widgets/row.ts";
import { VariablePages } from "./_variable_pages.ts";

type Head = Awaited<ReturnType<StoredView["variables"]>>[number];

/** With at least this many columns, each variable has its comment below it. */
const DOC_COLUMNS = 90;

/** The variables of the branch on the screen; Enter shows one with its value, its code and its versions' changes. */
export class VariableBrowser extends BasePanel {
  override readonly rows = 60;
  readonly #branch: Conversation | null;
  readonly #input = new LineInput({ prompt: "> ", placeholder: "name of a variable" });
  readonly #list = new List<Head>({ key: ({ name }) => name, draw: drawn });
  #heads: readonly Head[] | null = null;
  /** Includes system variables and those no longer in scope. */
  #all = false;
  #pages: VariablePages | null = null;

  constructor(parts: PanelParts) {
    super(parts);
    const branch = this.#branch = parts.branch();
    if (branch === null) this.#heads = [];
    else {
      this.load("variables", {
        work: () => parts.session().conversations.stored.variables(branch.branchId),
        then: (heads) => {
          this.#heads = heads;
          this.#fill("first");
        },
      });
    }
  }

  get title(): string {
    return this.#pages?.title ?? (this.#all ? "Variables, all" : "Variables");
  }

  get hint(): string {
    if (this.#pages !== null) return "Tab page · ←→ version · m mark · / find · c copy · Esc";
    return "type to find · Enter shows · Tab all · Esc";
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    if (this.#pages !== null) return this.#pages.render(width, { height, status: this.status() });
    const { items, selected } = this.#list;
    const noted = width < DOC_COLUMNS && items.some(({ summary }) => summary.doc !== "");
    const told = flat(selected?.summary.doc ?? "");
    // Keeps the row, so that the list does not move between variables.
    const doc = told !== "" ? `  // ${told}` : " ";
    const below = this.below(items.length === 0 ? this.#nothing() : noted ? doc : "", { empty: items.length === 0 });
    return [...this.#input.render(width), ...this.#list.render(width, height - 1 - below.length), ...below];
  }

  protected override back(): void {
    if (this.#pages === null) return this.close();
    if (!this.#pages.reader.back()) this.#pages = null;
  }

  protected override key(data: string): void {
    if (this.#pages !== null) return this.#pages.key(data);
    const moved = movement(data);
    if (moved !== null) this.#list.move(moved);
    else if (matchesKey(data, "enter")) this.#show();
    else if (matchesKey(data, "tab")) {
      this.#all = !this.#all;
      this.#fill("kept");
    } else if (this.#input.handle(data)) this.#fill("first");
  }

  protected override get clickable(): boolean {
    return this.#pages === null;
  }

  protected override click(line: number): void {
    if (this.#list.press(line - 1)) this.#show();
  }

  #nothing(): string {
    if (this.#heads === null) return "";
    if (this.#heads.some((head) => this.#all || head.scope === "live")) return "  no variable with this name";
    return this.#heads.length > 0 ? "  no current variables; Tab shows all" : "  no variables yet";
  }

  #fill(from: "kept" | "first"): void {
    const words = this.#input.value.toLowerCase().split(/\s+/);
    const fits = ({ name, summary: { doc } }: Head): boolean => {
      const low = `${name} ${doc}`.toLowerCase();
      return words.every((word) => low.includes(word));
    };
    this.#list.set((this.#heads ?? []).filter((head) => (this.#all || head.scope === "live") && fits(head)), { from });
  }

  #show(): void {
    const head = this.#list.selected;
    if (head === undefined || this.#branch === null) return;
    const { parts } = this;
    this.#pages = new VariablePages(head, {
      branch: this.#branch,
      theme: parts.theme,
      records: () => parts.session().conversations.records,
      copy: (text) => parts.act.copy(text),
      load: (work) => this.load("page", { work, then: (apply) => apply() }),
    });
  }
}

function drawn(
  { name, kind, versions, scope, summary, reason }: Head,
  place: { readonly width: number; readonly selected: boolean },
): readonly string[] {
  const { size, type, shape, inline, doc } = summary;
  const about = reason === "" ? flat(inline ?? shape) : `lost: ${flat(reason)}`;
  const facts = [
    scope === "live" ? kind === "data" ? flat(type, 20) : kind : scope,
    versions === 1 ? "" : `v${versions}`,
    size === null ? "" : size.toLocaleString("en"),
  ];
  const line = row(`${flat(name, 80)}${about === "" ? "" : ` = ${about}`}`, { facts, ...place });
  const noted = doc !== "" && place.width >= DOC_COLUMNS;
  return noted ? [line, `    ${paint.dim(`// ${flat(doc)}`)}`] : [line];
}
