import {
  type Component,
  decodeKittyPrintable,
  matchesKey,
  truncateToWidth,
  visibleWidth,
} from "@earendil-works/pi-tui";
import type { Conversation as Branch } from "../../../conversation/conversations.ts";
import { messageOf } from "../../../domain/errors.ts";
import type { BranchPoint } from "../../../domain/records/conversations.ts";
import type { SearchHit } from "../../../domain/records/history.ts";
import type { ExtensionAdmin } from "../../../domain/admin_reports.ts";
import type { ConfigAdmin, ProviderAdmin, Session } from "../../channel.ts";
import { flat, paint } from "../text/one_line.ts";
import type { Theme } from "../text/theme.ts";

export interface Panel extends Component {
  readonly title: string;
  readonly hint: string;
  readonly rows: number;
  /** If true, the end of the conversation stays visible above the panel. */
  readonly keepsEnd?: boolean;
  /** The screen calls `fit` with the number of rows without borders before every `render`, and `render` returns at most
   * this many lines. */
  fit(rows: number): void;
  left(): void;
  handleInput(data: string): void;
  /** `fromLast` counts rows upwards from the last row. Returns false if the user can select this row as text. */
  press?(fromLast: number, clicked: boolean): boolean;
}

export interface PanelActions {
  redraw(): void;
  close(): void;
  open(panel: Panel): void;
  tell(text: string): void;
  /** Shows the end of the conversation, or the request or answer of `at`. */
  show(branch: Branch | null, at?: Pick<SearchHit, "queryId" | "kind">): Promise<void>;
  fork(at: BranchPoint): Promise<void>;
  rewind(what: Rewinding): Promise<void>;
  useModel(model: { readonly provider: string; readonly name: string }): Promise<void>;
  /** The next start of Vis asks for a model again. */
  useDemo(): Promise<void>;
  copy(text: string): void;
  undo(options?: { readonly redo?: boolean; readonly rest?: boolean; readonly force?: boolean }): Promise<void>;
  export(name: string): Promise<void>;
  compose(text: string): void;
  /** Adds to the input a request that Vis sends when the user has chosen a model. */
  keep(request: string): void;
  quit(): void;
}

export interface Rewinding {
  readonly changes: readonly string[];
  readonly to: { readonly point: BranchPoint; readonly text: string } | null;
}

export interface PanelParts {
  /** `useModel` replaces the session, so panels call `session` before each use. */
  session(): Session;
  branch(): Branch | null;
  providers(): Promise<ProviderAdmin>;
  config(): Promise<ConfigAdmin>;
  extensions(): Promise<Pick<ExtensionAdmin, "run">>;
  readonly act: PanelActions;
  readonly theme?: () => PanelTheme;
}

export type PanelTheme = Pick<Theme, "accent" | "ok" | "bad" | "markdown">;

const MOST_ROWS = 30;

export abstract class BasePanel implements Panel {
  abstract readonly title: string;
  abstract readonly hint: string;
  readonly rows: number = MOST_ROWS;
  protected readonly parts: PanelParts;
  readonly #left = new AbortController();
  readonly #newest = new Map<string, number>();
  #running = 0;
  #height = MOST_ROWS;
  #drawn = 0;
  #problem = "";

  constructor(parts: PanelParts) {
    this.parts = parts;
  }

  protected abstract draw(place: { readonly width: number; readonly height: number }): readonly string[];
  protected abstract key(data: string): void;

  protected get clickable(): boolean {
    return true;
  }

  protected click(_line: number): void {}

  protected back(): void {
    this.close();
  }

  fit(rows: number): void {
    this.#height = Math.max(1, Math.floor(rows));
  }

  left(): void {
    this.#left.abort();
  }

  invalidate(): void {}

  render(width: number): string[] {
    const lines = this.draw({ width, height: this.#height }).slice(0, this.#height);
    this.#drawn = lines.length;
    const accent = this.parts.theme?.().accent ?? String;
    return lines.map((line) => {
      const fits = visibleWidth(line) > width ? truncateToWidth(line, width, "…") : line;
      return fits.startsWith("❯ ") ? `${accent("❯")}${fits.slice(1)}` : fits;
    });
  }

  press(fromLast: number, clicked: boolean): boolean {
    const line = this.#drawn - 1 - fromLast;
    if (line < 0 || !this.clickable) return false;
    if (clicked) this.#guarded(() => this.click(line));
    return true;
  }

  handleInput(data: string): void {
    this.#guarded(() => {
      if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) this.back();
      // Terminals with a newer protocol send letters as sequences.
      else this.key(decodeKittyPrintable(data) ?? data);
    });
  }

  #guarded(work: () => void): void {
    this.#problem = "";
    try {
      work();
    } catch (error) {
      this.fail(error);
    }
  }

  protected get problem(): string {
    return this.#problem === "" ? "" : (this.parts.theme?.().bad ?? paint.bold)(`! ${this.#problem}`);
  }

  protected get activity(): string {
    return "loading …";
  }

  protected status(otherwise = ""): string {
    return this.problem || paint.dim(this.#running > 0 ? this.activity : otherwise);
  }

  protected below(otherwise: string, { empty }: { readonly empty: boolean }): readonly string[] {
    const line = empty ? this.status(otherwise) : this.problem || paint.dim(otherwise);
    return line === "" ? [] : [line];
  }

  protected fail(error: unknown): void {
    this.#problem = flat(messageOf(error));
    this.parts.act.redraw();
  }

  protected close(): void {
    this.left();
    this.parts.act.close();
  }

  protected leaveFor(work: () => void | Promise<void>): void {
    const { tell } = this.parts.act;
    this.close();
    void Promise.resolve().then(work).catch((error: unknown) => tell(flat(messageOf(error))));
  }

  /** Drops the result if the user has closed the panel or newer work of the same kind has begun. */
  protected load<T>(
    kind: string,
    { work, then }: { readonly work: (signal: AbortSignal) => Promise<T>; readonly then: (found: T) => void },
  ): void {
    const number = (this.#newest.get(kind) ?? 0) + 1;
    this.#newest.set(kind, number);
    this.#running++;
    const { signal } = this.#left;
    const current = (): boolean => !signal.aborted && this.#newest.get(kind) === number;
    void new Promise<T>((resolve) => resolve(work(signal)))
      .finally(() => this.#running--)
      .then((found) => {
        if (current()) then(found);
      })
      .catch((error: unknown) => {
        if (current()) this.fail(error);
      })
      .then(() => {
        if (!signal.aborted) this.parts.act.redraw();
      });
  }
}
