import { type EditorTheme, getCapabilities } from "@earendil-works/pi-tui";
import { type CodeSpan, codeSpans } from "../../../markdown/code_spans.ts";
import { type TerminalPaint, terminalPaint } from "../../../markdown/terminal/paint.ts";

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
  readonly code: (code: string, language?: string) => readonly string[];
  readonly markdown: TerminalPaint;
  readonly editor: EditorTheme;
}

/** Longer code is shown without colours. */
const COLOURED_CHARS = 20_000;
const same: Paint = (text) => text;

/** `dark`: whether the terminal's background is dark; null if unknown. */
export function makeTheme(
  { color, dark, contrast = false }: {
    readonly color: boolean;
    readonly dark: boolean | null;
    /** Dims nothing: some terminals show dim text too faintly to be read. */
    readonly contrast?: boolean;
  },
): Theme {
  const weight = (on: number, off: number): Paint => (text) => text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`;
  const hue = (on: string, off = 39): Paint =>
    color ? (text) => text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m` : same;
  const [bold, dim, italic] = [weight(1, 22), contrast ? same : weight(2, 22), weight(3, 23)];
  const [cyan, green, yellow] = [hue("36"), hue("32"), hue("33")];
  const red = hue("31");
  const markdown = terminalPaint({ color, dims: !contrast, links: getCapabilities().hyperlinks });
  const code = (text: string, language = "ts"): readonly string[] =>
    text.length > COLOURED_CHARS ? text.split("\n") : codeLines(codeSpans(text, language), markdown.spans);
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

/** The theme of a setting; `dark` is what the terminal says of its background. */
export function chosenTheme(
  name: "auto" | "dark" | "light" | "contrast",
  { color, dark }: { readonly color: boolean; readonly dark: boolean | null },
): Theme {
  return makeTheme({ color, dark: name === "dark" || (name !== "light" && dark), contrast: name === "contrast" });
}

/** A theme that paints as the current one: what was drawn with it follows a change of the theme. */
export function liveTheme(now: () => Theme): Theme {
  const of = (name: "bold" | "dim" | "italic" | "accent" | "ok" | "bad" | "warn" | "said"): Paint => (text) =>
    now()[name](text);
  const list = (name: keyof EditorTheme["selectList"]): Paint => (text) => now().editor.selectList[name](text);
  return {
    ...{ bold: of("bold"), dim: of("dim"), italic: of("italic"), accent: of("accent") },
    ...{ ok: of("ok"), bad: of("bad"), warn: of("warn"), said: of("said") },
    code: (text, language) => now().code(text, language),
    get markdown() {
      return now().markdown;
    },
    editor: {
      borderColor: (text) => now().editor.borderColor(text),
      selectList: {
        ...{ selectedPrefix: list("selectedPrefix"), selectedText: list("selectedText") },
        ...{ description: list("description"), scrollInfo: list("scrollInfo"), noMatch: list("noMatch") },
      },
    },
  };
}

/** A span of several lines is coloured on each of them. */
function codeLines(
  spans: readonly CodeSpan[],
  kinds: Readonly<Record<CodeSpan["kind"], Paint>>,
): readonly string[] {
  const lines = [""];
  for (const { kind, text } of spans) {
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) lines.push("");
      lines[lines.length - 1] += part === "" ? "" : kinds[kind](part);
    }
  }
  return lines;
}
