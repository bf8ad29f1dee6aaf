import { visibleWidth } from "@earendil-works/pi-tui";
import type { DisplayOptions } from "./shown.ts";
import { wrapped } from "../text/wrapped.ts";

const MOST = 40;
const WHOLE = 4_000;

/** A message of the user, with an empty line below. `label` marks a special one; "" for an ordinary request. */
export function requestLines(
  text: string,
  { label, width, shown: { theme, whole } }: {
    readonly label: string;
    readonly width: number;
    readonly shown: DisplayOptions;
  },
): readonly string[] {
  const lines = wrapped(text.trimEnd(), width - 2, { most: whole ? WHOLE : MOST });
  return [
    ...(label === "" ? [] : [theme.dim(label.slice(0, width))]),
    ...lines.map((line, index) =>
      theme.said(padded(`${index === 0 ? theme.accent("›") : " "} ${theme.bold(line)}`, width))
    ),
    "",
  ];
}

/** As wide as the screen, so that the background is one block. */
function padded(line: string, width: number): string {
  return line + " ".repeat(Math.max(0, width - visibleWidth(line)));
}
