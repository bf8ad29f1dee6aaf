import type { TuiAltScreen } from "@earendil-works/pi-tui";
import { isDark } from "./is_dark.ts";
import type { PrefsKeeper } from "./prefs/prefs.ts";
import { chosenTheme, liveTheme, type Theme } from "./text/theme.ts";

/** The theme that the user chose, for the background that the terminal has. */
export class ScreenTheme {
  readonly #parts: { readonly prefs: Pick<PrefsKeeper, "get">; readonly color: boolean };
  /** Whether the background is dark, if the terminal reports it. */
  #dark: boolean | null = null;
  #theme: Theme;
  /** Follows every change. */
  readonly live: Theme = liveTheme(() => this.#theme);

  constructor(parts: { readonly prefs: Pick<PrefsKeeper, "get">; readonly color: boolean }) {
    this.#parts = parts;
    this.#theme = this.#make();
  }

  /** After a change of the settings. */
  remake(): void {
    this.#theme = this.#make();
  }

  /** Asks the terminal for its background. False if it does not report it. */
  async ask(tui: TuiAltScreen): Promise<boolean> {
    this.#dark = await isDark(tui);
    return this.#dark !== null;
  }

  #make(): Theme {
    const { prefs, color } = this.#parts;
    return chosenTheme(prefs.get().theme, { color, dark: this.#dark });
  }
}
