import type { Prefs } from "../prefs/prefs.ts";
import type { Theme } from "../text/theme.ts";

/** How entries are drawn, asked at each drawing. */
export interface DisplayOptions {
  readonly theme: Theme;
  readonly prefs: Prefs;
  /** Whole blocks and results in place of their first lines. */
  readonly whole: boolean;
}
