import { decodeKittyPrintable, matchesKey, visibleWidth } from "@earendil-works/pi-tui";
import { abortable, type Clock } from "../../../domain/kit/concurrency.ts";
import {
  type ApprovalAnswer,
  approvalChange,
  type ApprovalChoice,
  approvalChoices,
  approvalExact,
  approvalLine,
  type ApprovalQuestion,
  approvalScope,
  approvalTitle,
  approvalWhy,
  type Approve,
} from "../../../domain/query/approval.ts";
import { diffLines, WHOLE_DIFF } from "../../../markdown/terminal/diff_lines.ts";
import { terminalPaint } from "../../../markdown/terminal/paint.ts";
import { paint } from "../text/one_line.ts";
import { wrapped } from "../text/wrapped.ts";
import { BasePanel, type Panel, type PanelParts } from "./panel.ts";
import { LineInput, type Movement, movement } from "./widgets.ts";

const PAUSE_MS = 300;

interface QuestionsParts {
  readonly panels: PanelParts;
  readonly clock: Clock;
  readonly input: () => { readonly empty: boolean; key(data: string): void };
  readonly open: () => Panel | null;
  readonly cancel: () => void;
  readonly ring: (why: string) => void;
}

/** The user may be typing when the approval appears, so a letter answers only if the approval was visible for
 * `PAUSE_MS`, and no key follows within `PAUSE_MS`. */
export class Questions {
  readonly #parts: QuestionsParts;
  #panel: ApprovalPanel | null = null;
  #since = 0;
  #held: { readonly data: string; readonly dropped: AbortController } | null = null;

  constructor(parts: QuestionsParts) {
    this.#parts = parts;
  }

  get panel(): ApprovalPanel | null {
    return this.#panel;
  }

  turn(): boolean {
    if (this.#panel === null) return false;
    const { panels, open } = this.#parts;
    if (open() === this.#panel) panels.act.close();
    else panels.act.open(this.#panel);
    return true;
  }

  takes(data: string): boolean {
    const { clock, input } = this.#parts;
    this.#release();
    const panel = this.#panel;
    if (panel === null || !input().empty || clock.now() - this.#since < PAUSE_MS) return false;
    const letter = panel.names(decodeKittyPrintable(data) ?? data);
    if (letter) this.#hold(data, panel);
    else if (panel.moves(data)) this.#give(data, panel);
    else if (matchesKey(data, "escape")) this.refuse();
    else return false;
    return true;
  }

  refuse(): void {
    const panel = this.#panel;
    this.#panel = null;
    panel?.refuse();
  }

  #hold(data: string, panel: ApprovalPanel): void {
    const dropped = new AbortController();
    this.#held = { data, dropped };
    this.#parts.clock.sleep(PAUSE_MS, dropped.signal).then(() => {
      this.#held = null;
      if (this.#panel === panel) this.#give(data, panel);
    }, () => {});
  }

  #release(): void {
    const held = this.#held;
    this.#held = null;
    held?.dropped.abort();
    if (held) this.#parts.input().key(held.data);
  }

  #give(data: string, panel: ApprovalPanel): void {
    this.#parts.panels.act.open(panel);
    panel.handleInput(data);
  }

  readonly approve: Approve = async (question, signal) => {
    const { panels, open, cancel, ring, input, clock } = this.#parts;
    const answered = Promise.withResolvers<ApprovalAnswer>();
    const active = (): boolean => open() === panel;
    const ready = (): boolean => open() === null && input().empty;
    const panel = new ApprovalPanel({ ...panels, question, active, ready, answer: answered.resolve, cancel });
    this.#panel = panel;
    this.#since = clock.now();
    panels.act.redraw();
    ring(approvalLine(question));
    try {
      return await abortable(answered.promise, signal);
    } finally {
      this.#release();
      if (this.#panel === panel) this.#panel = null;
      if (active()) panels.act.close();
      panels.act.redraw();
    }
  };
}

const CHOICE_LEFT = 5, INDENT = 2, LEAST_ASKED = 3;
const SHORT: Readonly<Record<string, string>> = {
  c: "yes, and every such call in this conversation",
  a: "yes, and every such call in this workspace from now on",
};
const WHY_NOT = { key: "w", text: "no, and say why" } as const;

interface ApprovalPanelParts extends PanelParts {
  readonly question: ApprovalQuestion;
  readonly active: () => boolean;
  readonly ready: () => boolean;
  readonly answer: (answer: ApprovalAnswer) => void;
  readonly cancel: () => void;
}

type Choice = Pick<ApprovalChoice, "key" | "text"> & Partial<Pick<ApprovalChoice, "decision">>;

interface PanelRow {
  readonly text: string;
  readonly at: number;
}

export class ApprovalPanel extends BasePanel {
  readonly title = "Vis asks";
  readonly keepsEnd = true;
  readonly #own: ApprovalPanelParts;
  readonly #choices: readonly Choice[];
  #at = 0;
  #top = 0;
  #page = 1;
  #more = false;
  #follow = false;
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
    if (!this.#own.active()) {
      return more +
        (this.#own.ready()
          ? `${this.letters} · ↑↓ chooses · Esc says no`
          : "Esc says no and sends your text · Ctrl-G answers");
    }
    if (this.#why !== null) return "Enter says no · Esc";
    return `${more}↑↓ Enter, or a letter · Esc says no · Ctrl-G returns to the input`;
  }

  get letters(): string {
    return this.#choices.map(({ key }) => key).join(" ");
  }

  names(key: string): boolean {
    return this.#choices.some((choice) => choice.key === key);
  }

  moves(data: string): boolean {
    const moved = movement(data);
    return moved === "up" || moved === "down" || moved !== null && (this.#more || this.#top > 0);
  }

  refuse(): void {
    this.#own.answer({ decision: "no", reason: "" });
  }

  protected override get clickable(): boolean {
    return this.#own.active();
  }

  override handleInput(data: string): void {
    if (matchesKey(data, "ctrl+c")) this.#own.cancel();
    else super.handleInput(data);
  }

  protected override back(): void {
    if (this.#why === null) this.refuse();
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
    const asked = this.#question(width);
    const below = this.#below(width);
    const isExact = asked.length + below.length === height;
    const isPinned = !isExact && height - below.length - 1 >= Math.min(asked.length, LEAST_ASKED);
    const rows = isPinned ? asked : [...asked, ...below];
    const room = isPinned ? height - below.length - 1 : height;
    const last = Math.max(0, rows.length - room);
    if (this.#why !== null && !isPinned) this.#top = last;
    else if (this.#follow && !isPinned) {
      const from = rows.findIndex(({ at }) => at === this.#at);
      const to = rows.findLastIndex(({ at }) => at === this.#at);
      this.#top = Math.min(from, Math.max(this.#top, to - height + 1));
    }
    this.#follow = false;
    this.#top = Math.max(0, Math.min(this.#top, last));
    this.#page = Math.max(1, room - 1);
    this.#more = this.#top < last;
    this.#asked = asked.length;
    if (this.#top <= this.#seen) this.#seen = Math.max(this.#seen, this.#top + room);
    const shown = rows.slice(this.#top, this.#top + room);
    const more = this.#more ? paint.dim(`  ↓ ${last - this.#top} more`) : "";
    this.#rows = isPinned ? [...shown, { text: more, at: -1 }, ...below] : shown;
    return this.#rows.map(({ text }) => text);
  }

  #question(width: number): readonly PanelRow[] {
    const { question } = this.#own;
    const colours = this.#own.theme?.().markdown ?? terminalPaint({ color: false, weights: true });
    const place = { width: width - INDENT - 2, paint: colours, columns: visibleWidth, ...WHOLE_DIFF };
    const change = approvalChange(question);
    const rows = (text: string, columns = width): readonly string[] => text === "" ? [] : wrapped(text, columns);
    return [
      ...rows(approvalTitle(question)),
      ...rows(approvalExact(question), width - INDENT).map((row) => `  ${row}`),
      ...change === "" ? [] : diffLines(change, place).map((row) => `  ${paint.dim("│")} ${row}`),
      ...rows(approvalWhy(question)),
      ...rows(this.#scope(width)),
    ].map((text) => ({ text, at: -1 }));
  }

  #scope(width: number): string {
    return approvalScope(this.#own.question, (text) => visibleWidth(text) <= width - CHOICE_LEFT);
  }

  #below(width: number): readonly PanelRow[] {
    if (this.#why !== null) return this.#why.render(width).map((text) => ({ text, at: this.#choices.length }));
    const active = this.#own.active();
    const scope = this.#scope(width);
    return this.#choices.flatMap(({ key, text }, at) =>
      wrapped(scope === "" ? text : SHORT[key] ?? text, width - CHOICE_LEFT).map((row, line) => ({
        text: `${active && at === this.#at && line === 0 ? "❯" : " "} ${line === 0 ? key : " "}  ${row}`,
        at,
      }))
    );
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
    // Until the screen has shown the whole question, a choice that permits the call shows the next page.
    if (choice.decision !== undefined && choice.decision !== "no" && this.#seen < this.#asked) {
      return this.#move("pageDown");
    }
    if (choice.decision === undefined) this.#why = new LineInput({ prompt: "Why not? ", placeholder: "for the model" });
    else this.#own.answer({ decision: choice.decision, reason: "" });
  }
}
