import type { MarkdownInline } from "./tree.ts";

/** The text of inlines without their styles. */
export function inlineText(inlines: readonly MarkdownInline[]): string {
  return inlines.map((one) => {
    switch (one.kind) {
      case "text":
      case "code":
        return one.text;
      case "break":
        return "\n";
      case "image":
        return one.alt;
      default:
        return inlineText(one.inlines);
    }
  }).join("");
}
