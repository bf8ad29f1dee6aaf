import type { CodeSpan } from "../code_spans.ts";

type Paint = (text: string) => string;

export interface TerminalPaint {
  readonly heading: Paint;
  readonly strong: Paint;
  readonly emphasis: Paint;
  readonly strikethrough: Paint;
  readonly code: Paint;
  readonly link: Paint;
  readonly mark: Paint;
  readonly spans: Readonly<Record<CodeSpan["kind"], Paint>>;
  readonly changed: Readonly<Record<"added" | "removed", Paint>>;
  /** Null means that the terminal has no links, so the text shows the address. */
  readonly open: ((text: string, href: string) => string) | null;
}

export function faded(line: string): string {
  return line === "" ? "" : `\x1b[2m${line.replaceAll("\x1b[22m", "\x1b[22;2m")}\x1b[22m`;
}

/** Foregrounds use the terminal's own colours, because its background is unknown. */
export function terminalPaint(
  { color, weights = true, dims = true, links = false }: {
    readonly color: boolean;
    readonly weights?: boolean;
    readonly dims?: boolean;
    readonly links?: boolean;
  },
): TerminalPaint {
  const same: Paint = (text) => text;
  const code = (on: number, off: number): Paint => (text) => text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`;
  const weight = (on: number, off: number): Paint => weights ? code(on, off) : same;
  const hue = (on: number): Paint => color ? code(on, 39) : same;
  const [bold, dim, underline] = [weight(1, 22), dims ? weight(2, 22) : same, weight(4, 24)];
  const inverse = weight(7, 27);
  const [red, green, yellow, blue, magenta, cyan] = [hue(31), hue(32), hue(33), hue(34), hue(35), hue(36)];
  return {
    heading: (text) => bold(cyan(text)),
    strong: bold,
    emphasis: weight(3, 23),
    strikethrough: weight(9, 29),
    code: color ? cyan : bold,
    link: (text) => blue(underline(text)),
    mark: dim,
    spans: {
      ...{ comment: dim, string: green, keyword: magenta, number: yellow, value: yellow, call: same, plain: same },
      ...{ added: green, removed: red, place: dim, file: bold },
    },
    changed: { added: (text) => green(inverse(text)), removed: (text) => red(inverse(text)) },
    open: links ? (text, href) => `\x1b]8;;${href}\x1b\\${text}\x1b]8;;\x1b\\` : null,
  };
}
