import type { TuiAltScreen } from "@earendil-works/pi-tui";
import type { PrefsKeeper } from "./prefs/prefs.ts";
import { makeTheme, type Theme } from "./text/theme.ts";

/** The theme that the user chose, for the background that the terminal has. */
export class ScreenTheme {
  /** Whether the background is dark, if the terminal reports it. */
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

  /** Asks the terminal for its background. False if it does not report it. */
  async ask(tui: TuiAltScreen): Promise<boolean> {
    const rgb = await tui.queryTerminalBackgroundColor({ timeoutMs: 500 });
    this.#dark = rgb === undefined ? null : 0.299 * rgb.r + 0.587 * rgb.g + 0.114 * rgb.b < 128;
    return rgb !== undefined;
  }
}
