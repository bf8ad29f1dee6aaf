import {
  type Component,
  truncateToWidth,
  type TuiMouseEvent,
  type TuiMouseEventResult,
  visibleWidth,
} from "@earendil-works/pi-tui";
import { counted, dollarText, runningText, terminalText, visibleText } from "../../domain/kit/text.ts";
import { aboutText } from "../../domain/query/model_call.ts";
import { endedPlan, planLine, taskLine } from "../../domain/query/plan.ts";
import type { QueryProgress } from "../../domain/query/query_progress.ts";
import type { PlanItem } from "../../domain/query/query_schemas.ts";
import type { Session } from "../channel.ts";
import type { RequestBudget, SessionSpend, WaitingMessage } from "./chat.ts";
import type { Transcript } from "./entries/transcript.ts";
import type { Panel } from "./panels/panel.ts";
import { amounts, fitted, flat } from "./text/one_line.ts";
import type { Theme } from "./text/theme.ts";
import { wrapped } from "./text/wrapped.ts";

const WALLS = 4;
const LOW = 9;
const WAITING_SHOWN = 3;
const JOBS_SHOWN = 3;

export interface FrameFacts {
  readonly theme: Theme;
  readonly status: StatusFacts;
  readonly waiting: readonly WaitingMessage[];
  readonly plan: { readonly items: readonly PlanItem[]; readonly isOpen: boolean; readonly ended: boolean };
  readonly jobs: readonly RunningJob[];
  readonly panel: Panel | null;
  readonly input: (width: number) => readonly string[];
  readonly footer: FooterFacts;
}

interface FrameParts {
  readonly transcript: Transcript;
  readonly rows: () => number;
  readonly facts: () => FrameFacts;
  readonly wheel: (rows: number) => void;
}

export class ScreenFrame implements Component {
  readonly #parts: FrameParts;
  #above = 0;
  cost = 0;
  fresh = true;

  constructor(parts: FrameParts) {
    this.#parts = parts;
  }

  render(width: number): string[] {
    const began = performance.now();
    const rows = this.#parts.rows();
    const { theme, status, waiting, plan, jobs, panel, input, footer } = this.#parts.facts();
    const low = rows < LOW;
    const below = [
      ...(low ? [] : planLines(plan, { width, theme, most: Math.max(1, Math.floor(rows / 3)) })),
      ...jobLines(jobs, { width, theme, most: low ? 1 : JOBS_SHOWN }),
      ...waiting.slice(-WAITING_SHOWN).map((one) => waitingLine(one, { width, theme })),
      ...(low && status.told === "" ? [] : statusLines(status, { width, theme, most: low ? 1 : TOLD_ROWS })),
      ...input(width),
      ...(low ? [] : [footerLine(footer, { width, theme })]),
    ];
    const room = Math.max(0, rows - below.length);
    const box = panel === null ? [] : panelBox(panel, { room, width, theme });
    const left = room - box.length;
    const above = panel?.keepsEnd ? this.#end(width, left) : this.#parts.transcript.view(width, room, this.fresh);
    this.fresh = false;
    this.#above = room;
    const lines = [...above.slice(0, left), ...box, ...below];
    this.cost = performance.now() - began;
    return lines.slice(-rows);
  }

  #end(width: number, rows: number): readonly string[] {
    const lines = this.#parts.transcript.view(width, rows + 1, this.fresh);
    return lines.at(-1) === "" ? lines.slice(0, rows) : lines.slice(1);
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type === "wheel") {
      this.#parts.wheel((event.wheelDelta ?? 0) < 0 ? -1 : 1);
      return { handled: true };
    }
    const { panel } = this.#parts.facts();
    const clicked = event.type === "click";
    if (!clicked && event.type !== "press" || event.button !== "left") return undefined;
    const fromLast = this.#above - 2 - event.y;
    const taken = fromLast >= 0 && (panel?.press?.(fromLast, clicked) ?? false);
    return taken ? { handled: true } : undefined;
  }

  invalidate(): void {
    this.#parts.transcript.invalidate();
  }
}

function planLines(
  { items: all, isOpen, ended }: FrameFacts["plan"],
  { width, theme, most }: { readonly width: number; readonly theme: Theme; readonly most: number },
): readonly string[] {
  if (all.length === 0) return [];
  const items = ended ? endedPlan(all) : all;
  const told = `${planLine(items, { ended })}${ended ? " · ended" : ""}`;
  const line = (text: string): string => truncateToWidth(` ${visibleText(text)}`, width, "…");
  if (!isOpen) return [theme.dim(line(`▸ Tasks: ${told} (Ctrl-T)`))];
  const now = items.findIndex(({ state }) => state === "now");
  const from = Math.max(0, Math.min((now < 0 ? items.length : now) - Math.floor(most / 2), items.length - most));
  const shown = items.slice(from, from + most).map((item) => {
    const task = line(taskLine(item));
    if (item.state === "done") return theme.dim(task);
    return item.state === "now" ? theme.bold(task) : task;
  });
  return [theme.dim(line(`  Tasks: ${ended ? told : told.replace(/ · .*/, "")}`)), ...shown];
}

export interface RunningJob {
  readonly title: string;
  readonly ms: number;
  readonly output: string;
  readonly how: string;
}

const OUTPUT_CHARS = 2_000;

export function jobLines(
  jobs: readonly RunningJob[],
  { width, theme, most }: { readonly width: number; readonly theme: Theme; readonly most: number },
): readonly string[] {
  const lines = jobs.slice(0, most).map(({ title, ms, output, how }) => {
    const facts = ` · ${runningText(ms)} · ${how}`;
    const room = Math.max(LEAST_PHASE, width - 3 - facts.length);
    const last = flat(terminalText(output.slice(-OUTPUT_CHARS)).trimEnd().split("\n").at(-1) ?? "", 400);
    const name = fitted(flat(title, 400), { width: last === "" ? room : Math.ceil(room / 2) });
    const line = `${name}${facts}${last === "" ? "" : ` · ${last}`}`;
    return ` ${theme.accent(spinner(ms))} ${theme.dim(fitted(line, { width: width - 3 }))}`;
  });
  const more = jobs.length - lines.length;
  return more > 0 && most > 1 ? [...lines, theme.dim(`   and ${counted(more, "more command")} · /jobs`)] : lines;
}

function spinner(ms: number): string {
  return FRAMES[Math.floor(ms / 250) % FRAMES.length] ?? "";
}

export function waitingLine(
  { text, steers, isOwn }: WaitingMessage,
  { width, theme }: { readonly width: number; readonly theme: Theme },
): string {
  const how = `waits for the ${steers ? "next step" : "end of the request"}${isOwn ? ", ↑ to edit" : ""}`;
  const line = `${fitted(flat(text), { width: Math.max(10, width - how.length - 8) })} (${how})`;
  return theme.dim(` ⏎ ${fitted(line, { width: width - 3 })}`);
}

interface StatusFacts {
  readonly phase: string;
  readonly ms: number;
  readonly asks: boolean;
  readonly told: string;
  readonly following: boolean;
  readonly mode: string;
}

const LEAST_PHASE = 12;
const TOLD_ROWS = 3;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export function statusLines(
  { following, mode, ...facts }: StatusFacts,
  { width, theme, most = TOLD_ROWS }: { readonly width: number; readonly theme: Theme; readonly most?: number },
): readonly string[] {
  if (most > 1 && facts.told !== "" && facts.phase !== "") {
    const told = statusLines({ ...facts, phase: "", following: true, mode: "" }, { width, theme, most });
    return [
      ...told.map((line) => line.trimEnd()),
      ...statusLines({ ...facts, told: "", following, mode }, { width, theme, most }),
    ];
  }
  const right = [mode, following ? "" : "↓ End"].filter((text) => text !== "").join(" ");
  const room = Math.max(0, width - visibleWidth(right) - 2);
  const told = flat(facts.told, 600);
  if (most > 1 && visibleWidth(told) > room - 1) {
    const lines = wrapped(told, width - 2);
    const rest = lines.slice(most - 1).join(" ");
    return [...lines.slice(0, most - 1), ...rest === "" ? [] : [fitted(rest, { width: width - 2 })]]
      .map((line) => ` ${theme.warn(line)}`);
  }
  const left = ` ${leftOf(facts, { room: room - 1, theme })}`;
  return [left + " ".repeat(Math.max(1, width - visibleWidth(left) - visibleWidth(right) - 1)) + theme.accent(right)];
}

function leftOf(
  { phase, ms, asks, told }: Omit<StatusFacts, "following" | "mode">,
  { room, theme }: { readonly room: number; readonly theme: Theme },
): string {
  const cut = (text: string, width = room): string => fitted(flat(text, 400), { width });
  if (told !== "") return theme.warn(cut(told));
  if (phase === "") return "";
  const end = ` · ${runningText(ms)} · ${asks ? "Ctrl-C" : "Esc"} cancels`;
  const text = `${cut(phase, Math.max(LEAST_PHASE, room - 2 - end.length))}${end}`;
  return `${theme.accent(spinner(ms))} ${theme.dim(cut(text, room - 2))}`;
}

interface FooterFacts {
  readonly session: Pick<Session, "provider" | "model" | "workspace">;
  readonly spent: SessionSpend;
  readonly steps?: QueryProgress["spent"] | undefined;
  readonly budget?: RequestBudget;
  readonly git: string;
  readonly home: string;
}

export function footerLine(
  { session, spent, steps, budget, git, home }: FooterFacts,
  { width, theme }: { readonly width: number; readonly theme: Theme },
): string {
  const { walls, sentBytes } = spent;
  const parts = [
    session.model === "" ? "no model" : `${session.provider} ${session.model}`,
    budget?.reasoning ? `thinking ${budget.reasoning}` : "",
    budget?.costUsd ? `budget ${dollarText(budget.costUsd)}` : "",
    budget?.steps ? `budget ${counted(budget.steps, "step")}` : "",
    walls === null ? "" : walls.length === 0 ? "no walls" : walls.length === WALLS ? "walled" : "partly walled",
    git === "" ? "" : `git ${git}`,
    steps ? `step ${steps.used} of ${steps.budget}` : spent.steps === 0 ? "" : amounts.count(spent.steps, "step"),
    sentBytes === null ? "" : amounts.bytes(sentBytes),
    costText(spent),
    folder(session.workspace, home),
  ].filter((part) => part !== "").map((part) => flat(part));
  let line = parts[0] ?? "";
  for (const part of parts.slice(1)) {
    if (visibleWidth(line) + visibleWidth(part) + 5 > width) continue;
    line = `${line} · ${part}`;
  }
  return theme.dim(truncateToWidth(` ${line}`, width, "…"));
}

function costText({ usage, costUsd }: SessionSpend): string {
  if (usage.input + usage.output > 0 && costUsd === null) return "price unknown";
  if (costUsd === null || costUsd === 0) return "";
  return `${aboutText(usage)}$${costUsd.toFixed(costUsd < 0.01 ? 4 : 2)}`;
}

function folder(path: string, home: string): string {
  const below = path.slice(home.length);
  return home !== "" && path.startsWith(home) && /^[\\/]/.test(below) ? `~${below}` : path;
}

const MOST_COLUMNS = 120;
const KEPT_ROWS = 4;

export function panelBox(
  panel: Panel,
  { room, width, theme }: { readonly room: number; readonly width: number; readonly theme: Theme },
): readonly string[] {
  if (room < 3) return [];
  const columns = Math.min(width, MOST_COLUMNS);
  const inner = Math.max(1, columns - 4);
  const kept = panel.keepsEnd ? Math.min(KEPT_ROWS, Math.floor(room / 4)) : 0;
  const rows = Math.min(panel.rows, room - 2 - kept);
  panel.fit(rows);
  const lines = panel.render(inner).slice(0, rows);
  const edge = theme.accent("│");
  return [
    border({ left: "╭", right: "╮", text: panel.title, columns }, theme),
    ...lines.map((line) => `${edge} ${fill(line, inner)} ${edge}`),
    border({ left: "╰", right: "╯", text: panel.hint, columns }, theme),
  ];
}

function fill(line: string, width: number): string {
  const cut = visibleWidth(line) > width ? truncateToWidth(line, width, "…") : line;
  return `${cut}\x1b[0m${" ".repeat(Math.max(0, width - visibleWidth(cut)))}`;
}

function border(
  { left, right, text, columns }: {
    readonly left: string;
    readonly right: string;
    readonly text: string;
    readonly columns: number;
  },
  theme: Theme,
): string {
  const told = text === "" ? "" : ` ${truncateToWidth(visibleText(text), Math.max(1, columns - 6), "…")} `;
  const rest = "─".repeat(Math.max(0, columns - 3 - visibleWidth(told)));
  return `${theme.accent(`${left}─`)}${theme.bold(told)}${theme.accent(`${rest}${right}`)}`;
}

const FRAME_MS = 33;
const SPARE = 4;
const TICK_MS = 250;

export class Painter {
  readonly #draw: () => void;
  readonly #cost: () => number;
  #drawing: ReturnType<typeof setTimeout> | null = null;
  #ticking: ReturnType<typeof setInterval> | null = null;

  constructor({ draw, cost }: { readonly draw: () => void; readonly cost: () => number }) {
    this.#draw = draw;
    this.#cost = cost;
  }

  soon(): void {
    this.#drawing ??= setTimeout(() => {
      this.#drawing = null;
      this.#draw();
    }, Math.max(FRAME_MS, SPARE * this.#cost()));
  }

  tick(runs: boolean): void {
    if (runs) this.#ticking ??= setInterval(this.#draw, TICK_MS);
    else if (this.#ticking !== null) {
      clearInterval(this.#ticking);
      this.#ticking = null;
    }
  }

  stop(): void {
    this.tick(false);
    if (this.#drawing !== null) clearTimeout(this.#drawing);
    this.#drawing = null;
  }
}
