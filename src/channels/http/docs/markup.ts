/** A string that is already HTML. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = Markup | string | number | readonly Markup[];

/** An HTML template: every part that is not `Markup` is escaped, in text and in attributes. */
export function markup(pieces: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(pieces.map((piece, at) => at === 0 ? piece : shown(parts[at - 1] ?? "") + piece).join(""));
}

function shown(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (typeof part === "object") return part.map(({ text }) => text).join("");
  return String(part).replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
}
