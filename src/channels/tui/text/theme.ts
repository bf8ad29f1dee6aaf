import { type EditorTheme, getCapabilities, type TuiAltScreen } from "@earendil-works/pi-tui";
import { codeSpans } from "../../../markdown/code_spans.ts";
import { faded, type TerminalPaint, terminalPaint } from "../../../markdown/terminal/paint.ts";
import { cutRuns } from "../../../markdown/terminal/wrap.ts";
import type { PrefsKeeper } from "../prefs.ts";

type Paint = (text: string) => string;

export interface Theme {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly faded: Paint;
  readonly italic: Paint;
  readonly accent: Paint;
  readonly ok: Paint;
  readonly bad: Paint;
  readonly warn: Paint;
  readonly said: Paint;
  code(code: string): readonly string[];
  readonly markdown: TerminalPaint;
  readonly editor: EditorTheme;
}

const COLOURED_CHARS = 20_000;
const same: Paint = (text) => text;

interface ThemeLook {
  readonly color: boolean;
  readonly dark: boolean | null;
  readonly contrast?: boolean;
}

export function makeTheme(look: ThemeLook): Theme {
  const { color } = look;
  const sgr = (on: string, off: number): Paint => (text) => text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`;
  const hue = (on: string): Paint => color ? sgr(on, 39) : same;
  const [bold, faint, cyan] = [sgr("1", 22), sgr("2", 22), hue("36")];
  const [dark, light] = [sgr("48;5;236", 49), sgr("48;5;254", 49)];
  const dim: Paint = (text) => look.contrast ? text : faint(text);
  const selectList = {
    selectedPrefix: cyan,
    selectedText: (text: string) => bold(cyan(text)),
    description: dim,
    scrollInfo: dim,
    noMatch: dim,
  };
  return {
    ...{
      bold,
      dim,
      faded: (line) => look.contrast ? line : faded(line),
      italic: sgr("3", 23),
      accent: cyan,
      ok: hue("32"),
      bad: hue("31"),
      warn: hue("33"),
    },
    said: (text) => color && look.dark !== null ? (look.dark ? dark : light)(text) : text,
    code(text) {
      if (text.length > COLOURED_CHARS) return text.split("\n");
      const runs = codeSpans(text, "ts").map(({ kind, text }) => ({ text, paint: this.markdown.spans[kind] }));
      return cutRuns(runs, { width: Infinity, columns: () => 0 });
    },
    get markdown() {
      return terminalPaint({ color, dims: !look.contrast, links: getCapabilities().hyperlinks });
    },
    editor: { borderColor: dim, selectList },
  };
}

export class ScreenTheme {
  #dark: boolean | null = null;
  readonly live: Theme;

  constructor({ prefs, color }: { readonly prefs: Pick<PrefsKeeper, "get">; readonly color: boolean }) {
    const reported = (): boolean | null => this.#dark;
    this.live = makeTheme({
      color,
      get dark() {
        const { theme } = prefs.get();
        return theme === "dark" || (theme !== "light" && reported());
      },
      get contrast() {
        return prefs.get().theme === "contrast";
      },
    });
  }

  async ask(tui: TuiAltScreen): Promise<boolean> {
    const rgb = await tui.queryTerminalBackgroundColor({ timeoutMs: 500 });
    this.#dark = rgb === undefined ? null : 0.299 * rgb.r + 0.587 * rgb.g + 0.114 * rgb.b < 128;
    return rgb !== undefined;
  }
}
