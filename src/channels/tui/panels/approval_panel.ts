import { matchesKey } from "@earendil-works/pi-tui";
import { abortable } from "../../../domain/kit/concurrency.ts";
import {
  type ApprovalAnswer,
  type ApprovalChoice,
  approvalChoices,
  type ApprovalQuestion,
  approvalTitle,
  approvalWhy,
  type Approve,
} from "../../../domain/query/approval.ts";
import { wrapped } from "../text/wrapped.ts";
import { BasePanel, type Panel, type PanelParts } from "./panel.ts";
import { LineInput, type Movement, movement } from "./widgets.ts";

interface QuestionsParts {
  readonly panels: PanelParts;
  /** The panel that has the keyboard. */
  readonly open: () => Panel | null;
  /** Cancels the running query. */
  readonly cancel: () => void;
  /** Draws attention to the terminal. */
  readonly ring: () => void;
}

/** What extensions ask while a query of this screen runs. A question is shown at once, but gets the keyboard only with
 * a key of its own: what was typed when it appeared goes where it was meant to go, and answers nothing. */
export class Questions {
  readonly #parts: QuestionsParts;
  #panel: ApprovalPanel | null = null;

  constructor(parts: QuestionsParts) {
    this.#parts = parts;
  }

  /** The question that waits. */
  get panel(): Panel | null {
    return this.#panel;
  }

  /** Gives the keyboard to the question, or back to the input; false if none waits. */
  turn(): boolean {
    if (this.#panel === null) return false;
    const { panels, open } = this.#parts;
    if (open() === this.#panel) panels.act.close();
    else panels.act.open(this.#panel);
    return true;
  }

  readonly approve: Approve = async (question, signal) => {
    const { panels, open, cancel, ring } = this.#parts;
    const answered = Promise.withResolvers<ApprovalAnswer>();
    const active = (): boolean => open() === panel;
    const panel = new ApprovalPanel({ ...panels, question, active, answer: answered.resolve, cancel });
    this.#panel = panel;
    panels.act.redraw();
    ring();
    try {
      return await abortable(answered.promise, signal);
    } finally {
      this.#panel = null;
      if (active()) panels.act.close();
      panels.act.redraw();
    }
  };
}

const WHY_NOT = { key: "w", text: "no, and say why" } as const;

interface ApprovalPanelParts extends PanelParts {
  readonly question: ApprovalQuestion;
  /** Whether keys reach it. */
  readonly active: () => boolean;
  readonly answer: (answer: ApprovalAnswer) => void;
  /** Cancels the query that asks. */
  readonly cancel: () => void;
}

type Choice = Pick<ApprovalChoice, "key" | "text"> & Partial<Pick<ApprovalChoice, "decision">>;

interface PanelRow {
  readonly text: string;
  /** Of the choice that it belongs to; -1 for the question. */
  readonly at: number;
}

/** A question of an extension with its choices, as one text that scrolls. */
export class ApprovalPanel extends BasePanel {
  readonly title = "Vis asks";
  readonly #own: ApprovalPanelParts;
  readonly #choices: readonly Choice[];
  #at = 0;
  #top = 0;
  #page = 1;
  #more = false;
  /** Moves the window to the selected choice when it is drawn. */
  #follow = false;
  /** How many rows of the question have been on the screen, and how many it has. */
  #seen = 0;
  #asked = Infinity;
  #rows: readonly PanelRow[] = [];
  #why: LineInput | null = null;

  constructor(parts: ApprovalPanelParts) {
    super(parts);
    this.#own = parts;
    this.#choices = [...approvalChoices(parts.question), WHY_NOT];
  }

  get hint(): string {
    const more = this.#more ? "PgDn shows more · " : "";
    if (!this.#own.active()) return `${more}Ctrl-G answers`;
    if (this.#why !== null) return "Enter says no · Esc";
    return `${more}↑↓ Enter, or a letter · Esc says no · Ctrl-G returns to the input`;
  }

  protected override get clickable(): boolean {
    return this.#own.active();
  }

  override handleInput(data: string): void {
    if (matchesKey(data, "ctrl+c")) this.#own.cancel();
    else super.handleInput(data);
  }

  protected override back(): void {
    if (this.#why === null) this.#own.answer({ decision: "no", reason: "" });
    this.#why = null;
  }

  protected override key(data: string): void {
    if (this.#why !== null) {
      if (matchesKey(data, "enter")) this.#own.answer({ decision: "no", reason: this.#why.value.trim() });
      else this.#why.handle(data);
      return;
    }
    const moved = movement(data);
    const named = this.#choices.find(({ key }) => key === data);
    if (moved !== null) this.#move(moved);
    else if (named !== undefined) this.#choose(named);
    else if (matchesKey(data, "enter")) this.#choose(this.#choices[this.#at]);
  }

  protected override click(line: number): void {
    const at = this.#rows[line]?.at ?? -1;
    if (at < 0 || this.#why !== null) return;
    if (at === this.#at) this.#choose(this.#choices[at]);
    this.#at = at;
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    const rows = this.#all(width);
    const last = Math.max(0, rows.length - height);
    if (this.#why !== null) this.#top = last;
    else if (this.#follow) {
      const from = rows.findIndex(({ at }) => at === this.#at);
      const to = rows.findLastIndex(({ at }) => at === this.#at);
      this.#top = Math.min(from, Math.max(this.#top, to - height + 1));
    }
    this.#follow = false;
    this.#top = Math.max(0, Math.min(this.#top, last));
    this.#page = Math.max(1, height - 1);
    this.#more = this.#top < last;
    this.#asked = rows.filter(({ at }) => at < 0).length;
    if (this.#top <= this.#seen) this.#seen = Math.max(this.#seen, this.#top + height);
    this.#rows = rows.slice(this.#top, this.#top + height);
    return this.#rows.map(({ text }) => text);
  }

  #all(width: number): readonly PanelRow[] {
    const { question } = this.#own;
    const asked = [approvalTitle(question), approvalWhy(question)].filter((text) => text !== "").join("\n");
    const rows = (text: string, at: number, columns = width): readonly PanelRow[] =>
      wrapped(text, columns).map((line) => ({ text: line, at }));
    if (this.#why !== null) {
      return [...rows(asked, -1), ...this.#why.render(width).map((text) => ({ text, at: this.#choices.length }))];
    }
    const active = this.#own.active();
    const choices = this.#choices.flatMap(({ key, text }, at) =>
      rows(text, at, width - 5).map((row, line) => ({
        text: `${active && at === this.#at && line === 0 ? "❯" : " "} ${line === 0 ? key : " "}  ${row.text}`,
        at,
      }))
    );
    return [...rows(asked, -1), { text: "", at: -1 }, ...choices];
  }

  #move(moved: Movement): void {
    if (moved === "up" || moved === "down") {
      this.#at = Math.max(0, Math.min(this.#choices.length - 1, this.#at + (moved === "up" ? -1 : 1)));
      this.#follow = true;
    } else {
      this.#top += { home: -Infinity, end: Infinity, pageUp: -this.#page, pageDown: this.#page }[moved];
    }
  }

  #choose(choice: Choice | undefined): void {
    if (choice === undefined || this.#seen === 0) return;
    // Nobody says yes to what was never on the screen.
    if (choice.decision !== undefined && choice.decision !== "no" && this.#seen < this.#asked) {
      return this.#move("pageDown");
    }
    if (choice.decision === undefined) this.#why = new LineInput({ prompt: "Why not? ", placeholder: "for the model" });
    else this.#own.answer({ decision: choice.decision, reason: "" });
  }
}
