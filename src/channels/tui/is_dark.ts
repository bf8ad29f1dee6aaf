import type { TuiAltScreen } from "@earendil-works/pi-tui";

/** Whether the terminal's background is dark; null if the terminal does not say. */
export async function isDark(tui: Pick<TuiAltScreen, "queryTerminalBackgroundColor">): Promise<boolean | null> {
  const rgb = await tui.queryTerminalBackgroundColor({ timeoutMs: 500 });
  return rgb === undefined ? null : 0.299 * rgb.r + 0.587 * rgb.g + 0.114 * rgb.b < 128;
}
