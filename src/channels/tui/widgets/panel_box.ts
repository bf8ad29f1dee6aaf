import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import { visibleText } from "../../../domain/kit/text.ts";
import type { Theme } from "../text/theme.ts";
import type { Panel } from "./panel.ts";

const MOST_COLUMNS = 120;

/** Draws a panel with its border over the last rows of `under`. */
export function panelBox(
  panel: Panel,
  { under, width, theme }: { readonly under: readonly string[]; readonly width: number; readonly theme: Theme },
): readonly string[] {
  if (under.length < 3) return under;
  const columns = Math.min(width, MOST_COLUMNS);
  const inner = Math.max(1, columns - 4);
  const rows = Math.min(panel.rows, under.length - 2);
  panel.fit(rows);
  const lines = panel.render(inner).slice(0, rows);
  const edge = theme.accent("│");
  const box = [
    border({ left: "╭", right: "╮", text: panel.title, columns }, theme),
    ...lines.map((line) => `${edge} ${fill(line, inner)} ${edge}`),
    border({ left: "╰", right: "╯", text: panel.hint, columns }, theme),
  ];
  return [...under.slice(0, under.length - box.length), ...box];
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
