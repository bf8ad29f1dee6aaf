import { visibleWidth } from "@earendil-works/pi-tui";
import { DrawnEntry } from "./drawn_entry.ts";
import type { DisplayOptions } from "./shown.ts";
import { wrapped } from "../text/wrapped.ts";

const MOST = 40;

/** The user's request. */
export class RequestEntry extends DrawnEntry {
  readonly #text: string;
  readonly #label: string;
  readonly #shown: () => DisplayOptions;

  /** `label`: marks a special request; "" for an ordinary one. */
  constructor(text: string, { label = "", shown }: { readonly label?: string; readonly shown: () => DisplayOptions }) {
    super();
    this.#text = text;
    this.#label = label;
    this.#shown = shown;
  }

  protected draw(width: number): readonly string[] {
    const { theme, whole } = this.#shown();
    const lines = wrapped(this.#text.trimEnd(), width - 2, { most: whole ? 4_000 : MOST });
    const label = this.#label === "" ? [] : [theme.dim(this.#label.slice(0, width))];
    return [
      ...label,
      ...lines.map((line, index) =>
        theme.said(padded(`${index === 0 ? theme.accent("›") : " "} ${theme.bold(line)}`, width))
      ),
      "",
    ];
  }
}

/** As wide as the screen, so that the background is one block. */
function padded(line: string, width: number): string {
  return line + " ".repeat(Math.max(0, width - visibleWidth(line)));
}
