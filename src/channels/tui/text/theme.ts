import type { EditorTheme, MarkdownTheme } from "@earendil-works/pi-tui";
import { type CodeToken, codeTokens } from "../../../domain/text/code_tokens.ts";

type Paint = (text: string) => string;

/** Styles of the parts of the screen. Foregrounds are the terminal's own sixteen colours, so that they fit its
 * background; without colours only weights are left. */
export interface Theme {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly italic: Paint;
  readonly accent: Paint;
  readonly ok: Paint;
  readonly bad: Paint;
  readonly warn: Paint;
  /** Background of the user's requests. */
  readonly said: Paint;
  readonly code: (code: string) => readonly string[];
  readonly markdown: MarkdownTheme;
  readonly editor: EditorTheme;
}

/** Longer code is shown without colours. */
const COLOURED_CHARS = 20_000;
const same: Paint = (text) => text;

/** `dark`: whether the terminal's background is dark; null if unknown. */
export function makeTheme({ color, dark }: { readonly color: boolean; readonly dark: boolean | null }): Theme {
  const weight = (on: number, off: number): Paint => (text) => text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`;
  const hue = (on: string, off = 39): Paint =>
    color ? (text) => text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m` : same;
  const [bold, dim, italic] = [weight(1, 22), weight(2, 22), weight(3, 23)];
  const [cyan, green, yellow] = [hue("36"), hue("32"), hue("33")];
  const [red, magenta, blue] = [hue("31"), hue("35"), hue("34")];
  const kinds = { comment: dim, string: green, keyword: magenta, number: yellow, plain: same };
  const code = (text: string): readonly string[] => codeLines(text, kinds);
  const markdown: MarkdownTheme = {
    heading: (text) => bold(cyan(text)),
    link: (text) => blue(weight(4, 24)(text)),
    linkUrl: dim,
    code: color ? cyan : bold,
    codeBlock: same,
    codeBlockBorder: dim,
    quote: italic,
    quoteBorder: dim,
    hr: dim,
    listBullet: cyan,
    bold,
    italic,
    strikethrough: weight(9, 29),
    underline: weight(4, 24),
    highlightCode: (text, language) => {
      if (isScript(language)) return [...code(text)];
      return language === "diff"
        ? text.split("\n").map((line) => diffLine(line, { green, red, dim }))
        : text.split("\n");
    },
  };
  const selectList = {
    selectedPrefix: cyan,
    selectedText: (text: string) => bold(cyan(text)),
    description: dim,
    scrollInfo: dim,
    noMatch: dim,
  };
  return {
    ...{ bold, dim, italic, accent: cyan, ok: green, bad: red, warn: yellow },
    said: dark === null ? same : hue(dark ? "48;5;236" : "48;5;254", 49),
    ...{ code, markdown, editor: { borderColor: dim, selectList } },
  };
}

function diffLine(line: string, { green, red, dim }: Readonly<Record<"green" | "red" | "dim", Paint>>): string {
  if (line.startsWith("@@")) return dim(line);
  return line.startsWith("+") ? green(line) : line.startsWith("-") ? red(line) : line;
}

function isScript(language = ""): boolean {
  return /^(?:ts|tsx|js|jsx|mjs|typescript|javascript|json|jsonc)$/i.test(language);
}

/** A token that spans several lines is coloured on each of them. */
function codeLines(code: string, kinds: Readonly<Record<CodeToken["kind"], Paint>>): readonly string[] {
  if (code.length > COLOURED_CHARS) return code.split("\n");
  const lines = [""];
  for (const { kind, text } of codeTokens(code)) {
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) lines.push("");
      lines[lines.length - 1] += part === "" ? "" : kinds[kind](part);
    }
  }
  return lines;
}
