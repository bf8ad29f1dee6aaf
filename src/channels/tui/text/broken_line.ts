import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { cutWide } from "./cut_wide.ts";

/** One line in lines of at most this many columns; colours and links go on in each. */
export function brokenLine(text: string, width: number): readonly string[] {
  return cutWide(wrapTextWithAnsi(text, width), width);
}
