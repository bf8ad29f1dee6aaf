import { visibleText } from "../../../domain/kit/text.ts";

/** A value as JSON and a line end. Characters that control a terminal or that nobody sees are escapes of JSON. */
export function jsonText(value: unknown, { indent = 0 }: { readonly indent?: number } = {}): string {
  return `${visibleText(JSON.stringify(value, null, indent))}\n`;
}
