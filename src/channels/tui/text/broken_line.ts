import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { cutWide } from "./cut_wide.ts";

/** Wraps one line at this many columns; colours and links continue on each line. */
export function brokenLine(text: string, width: number): readonly string[] {
  return cutWide(wrapTextWithAnsi(text, width), width);
}
