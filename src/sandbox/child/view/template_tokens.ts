import Mustache from "mustache";

/** One part of a template: text, a tag with its name, or a section with its content. */
export interface TemplateToken {
  readonly type: "text" | "name" | "&" | "#" | "^" | ">" | "!" | "=";
  readonly value: string;
  readonly inside: readonly TemplateToken[];
}

const TYPES: readonly string[] = ["text", "name", "&", "#", "^", ">", "!", "="];

/** Throws Error if a section is not closed. */
export function parseTemplate(template: string): TemplateToken[] {
  const parse: (text: string) => unknown = Mustache.parse;
  return tokensOf(parse(template));
}

function tokensOf(list: unknown): TemplateToken[] {
  if (!Array.isArray(list)) throw new TypeError("Cannot read the template: its parts are no list");
  return list.map((one: unknown) => {
    const [type, value, , , inside]: unknown[] = Array.isArray(one) ? one : [];
    if (!isType(type) || typeof value !== "string") throw new TypeError("Cannot read the template: an unknown part");
    return { type, value, inside: type === "#" || type === "^" ? tokensOf(inside) : [] };
  });
}

function isType(type: unknown): type is TemplateToken["type"] {
  return typeof type === "string" && TYPES.includes(type);
}

/** `a.b.c` as a list of names; null for other tags (`x | upper`, `.Values.x`, `if a`). */
export function pathOf(tag: string): string[] | null {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*(\.[\p{ID_Continue}$]+)*$/u.test(tag) ? tag.split(".") : null;
}
