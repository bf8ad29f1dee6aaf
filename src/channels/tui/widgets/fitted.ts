import { stripTerminalSequences, truncateToWidth } from "@earendil-works/pi-tui";

/** Unstyled text in at most this many columns, with … if it was cut; `pad` fills them. */
export function fitted(
  text: string,
  { width, pad = false }: { readonly width: number; readonly pad?: boolean },
): string {
  return stripTerminalSequences(truncateToWidth(text, Math.max(0, width), "…", pad));
}
