import type { Prefs } from "../prefs/prefs.ts";
import type { Theme } from "../text/theme.ts";

/** How entries are drawn; read on every redraw. */
export interface DisplayOptions {
  readonly theme: Theme;
  readonly prefs: Prefs;
  /** Shows whole blocks and results instead of their first lines. */
  readonly whole: boolean;
}
