import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import type { QueryProgress } from "../../domain/query/query_progress.ts";
import type { Session } from "../channel.ts";
import type { SessionSpend } from "./chat.ts";
import { amounts } from "./text/amounts.ts";
import type { Theme } from "./text/theme.ts";
import { flat } from "./widgets/flat.ts";

export interface FooterFacts {
  readonly session: Pick<Session, "provider" | "model" | "workspace">;
  readonly spent: SessionSpend;
  /** The steps of the running query that count, and its budget; absent if none is running. */
  readonly steps?: QueryProgress["spent"] | undefined;
  readonly home: string;
}

/** The last line: model, cost, folder and walls in effect. What does not fit is dropped from the end. */
export function footerLine(
  { session, spent, steps, home }: FooterFacts,
  { width, theme }: { readonly width: number; readonly theme: Theme },
): string {
  const { usage, costUsd, walls } = spent;
  const parts = [
    `${session.provider} ${session.model}`,
    ...(!steps ? [] : [`step ${steps.used}/${steps.budget}`]),
    ...(usage.input + usage.output > 0 ? [`↑${amounts.tokens(usage.input)} ↓${amounts.tokens(usage.output)}`] : []),
    ...(costUsd > 0 ? [amounts.dollars(costUsd)] : []),
    folder(session.workspace, home),
    ...(walls === null ? [] : [walls.length === 0 ? "no walls" : `walls: ${walls.join(" ")}`]),
  ].map((part) => flat(part));
  let line = parts[0] ?? "";
  for (const part of parts.slice(1)) {
    if (visibleWidth(line) + visibleWidth(part) + 5 > width) continue;
    line = `${line} · ${part}`;
  }
  return theme.dim(truncateToWidth(` ${line}`, width, "…"));
}

function folder(path: string, home: string): string {
  const below = path.slice(home.length);
  return home !== "" && path.startsWith(home) && /^[\\/]/.test(below) ? `~${below}` : path;
}
