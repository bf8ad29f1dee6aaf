import type { Component, TuiMouseEvent, TuiMouseEventResult } from "@earendil-works/pi-tui";
import { oneLine, visibleText } from "../../domain/kit/text.ts";
import type { Transcript } from "./entries/transcript.ts";
import type { Outgoing } from "./input/outgoing.ts";
import { type StatusFacts, statusLine } from "./status_line.ts";
import type { Theme } from "./text/theme.ts";
import { panelBox } from "./widgets/panel_box.ts";
import type { Panel } from "./widgets/panel.ts";

/** Terminals with fewer rows show no footer and no status line. */
const LOW = 9;
const WAITING_SHOWN = 3;

export interface FrameFacts {
  readonly theme: Theme;
  readonly status: StatusFacts;
  readonly waiting: readonly { readonly outgoing: Outgoing; readonly steers: boolean }[];
  readonly panel: Panel | null;
  readonly input: (width: number) => readonly string[];
  readonly footer: (width: number) => string;
}

interface FrameParts {
  readonly transcript: Transcript;
  readonly rows: () => number;
  readonly facts: () => FrameFacts;
  readonly wheel: (rows: number) => void;
}

/** All rows of the terminal, from the messages to the footer. */
export class ScreenFrame implements Component {
  readonly #parts: FrameParts;
  /** Rows above the input and its surroundings. */
  #above = 0;
  /** Duration of the last drawing in milliseconds. */
  cost = 0;

  constructor(parts: FrameParts) {
    this.#parts = parts;
  }

  render(width: number): string[] {
    const began = performance.now();
    const rows = this.#parts.rows();
    const { theme, status, waiting, panel, input, footer } = this.#parts.facts();
    const low = rows < LOW;
    const below = [
      ...waiting.slice(-WAITING_SHOWN).map((one) => waitingLine(one, { width, theme })),
      ...(low && status.told === "" ? [] : [statusLine(status, { width, theme })]),
      ...input(width),
      ...(low ? [] : [footer(width)]),
    ];
    const above = this.#parts.transcript.view(width, Math.max(0, rows - below.length));
    this.#above = above.length;
    const lines = [...panel === null ? above : panelBox(panel, { under: above, width, theme }), ...below];
    this.cost = performance.now() - began;
    return lines.slice(-rows);
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type === "wheel") {
      this.#parts.wheel((event.wheelDelta ?? 0) < 0 ? -1 : 1);
      return { handled: true };
    }
    const { panel } = this.#parts.facts();
    const clicked = event.type === "click";
    if (!clicked && event.type !== "press" || event.button !== "left") return undefined;
    // The panel's border is on the last of the rows for messages.
    const fromLast = this.#above - 2 - event.y;
    const taken = fromLast >= 0 && (panel?.press?.(fromLast, clicked) ?? false);
    return taken ? { handled: true } : undefined;
  }

  invalidate(): void {
    this.#parts.transcript.invalidate();
  }
}

function waitingLine(
  { outgoing, steers }: FrameFacts["waiting"][number],
  { width, theme }: { readonly width: number; readonly theme: Theme },
): string {
  const how = steers ? "queued for the next step" : "queued";
  const text = oneLine(visibleText(outgoing.text), Math.max(10, width - how.length - 20));
  return theme.dim(` ⏎ ${text} (${how}, ↑ to edit)`);
}
