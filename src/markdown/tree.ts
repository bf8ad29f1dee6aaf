export type MarkdownBlock =
  | { readonly kind: "paragraph"; readonly inlines: readonly MarkdownInline[] }
  | { readonly kind: "heading"; readonly level: number; readonly inlines: readonly MarkdownInline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: readonly MarkdownBlock[] }
  | MarkdownList
  | MarkdownTable
  | { readonly kind: "rule" };

export interface MarkdownList {
  readonly kind: "list";
  readonly start: number | null;
  /** If true, the list has an empty line between its parts, so the text of its items is in paragraphs. */
  readonly loose: boolean;
  readonly items: readonly MarkdownItem[];
}

export interface MarkdownItem {
  readonly done: boolean | null;
  readonly blocks: readonly MarkdownBlock[];
}

export interface MarkdownTable {
  readonly kind: "table";
  readonly sides: readonly ("left" | "center" | "right" | null)[];
  readonly head: readonly (readonly MarkdownInline[])[];
  readonly rows: readonly (readonly (readonly MarkdownInline[])[])[];
}

/** In a text, "\n" is a line end of the source, such as a soft break. */
export type MarkdownInline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "break" }
  | { readonly kind: "emphasis" | "strong" | "strikethrough"; readonly inlines: readonly MarkdownInline[] }
  | MarkdownLink
  | { readonly kind: "image"; readonly src: string; readonly title: string; readonly alt: string };

/** `href` begins with http:, https: or mailto:. */
export interface MarkdownLink {
  readonly kind: "link";
  readonly href: string;
  readonly title: string;
  readonly inlines: readonly MarkdownInline[];
}

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

const MARKED = /^(#{1,6} |```|[-*] |\d+\. |\|)/m;

export function hasMarkdown(text: string): boolean {
  return MARKED.test(text);
}
