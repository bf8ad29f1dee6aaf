import Mustache from "mustache";
import { checkTemplate } from "./template_faults.ts";
import { follow, MISSING, pathOf, type TemplateValues } from "./template_path.ts";

/** How the text was resolved; the sandbox's `RenderReport`. */
export type Rendered =
  | { readonly ok: true; readonly from: "variable" | "template" | "literal"; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** One part of a template: text, a tag with its name, or a section with its content. */
interface TemplateToken {
  readonly type: "text" | "name" | "&" | "#" | "^" | ">" | "!" | "=";
  readonly value: string;
  readonly inside: readonly TemplateToken[];
}

const TYPES: readonly string[] = ["text", "name", "&", "#", "^", ">", "!", "="];

const MAX_CHARS = 1 << 20, MAX_STEPS = 1_000_000;

/** Resolves the text of a final answer: the name of a variable, a Mustache template over variables, or plain text. Runs in
 * the context of the compiler: a block that replaces String.prototype.substring would rewrite the answer. Nothing is escaped, no function or getter is called, and there are no partials. Never throws. */
export function render(template: string, values: TemplateValues): Rendered {
  values.forget(0); // of a rendering that was stopped
  const names: unknown = JSON.parse(values.names());
  const known = new Set<string>(Array.isArray(names) ? names : []);
  const single = template.trim();
  if (pathOf(single)?.length === 1 && known.has(single)) return ofVariable(single, values);
  if (!template.includes("{{")) return { ok: true, from: "literal", text: template };
  const { namesVariable, faults } = checkTemplate(template, { known, values });
  if (faults !== null) return { ok: false, reason: faults };
  if (!namesVariable) return { ok: true, from: "literal", text: template };
  try {
    return { ok: true, from: "template", text: new Renderer(known, values).run(parseTemplate(template)) };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message };
    return { ok: false, reason: `The template cannot be read: ${error instanceof Error ? error.message : "unknown"}` };
  }
}

function ofVariable(name: string, values: TemplateValues): Rendered {
  const value = values.variable(name), kind = values.kind(value);
  if (kind === "undefined" || kind === "null") return { ok: false, reason: `The variable ${name} is ${kind}` };
  return { ok: true, from: "variable", text: values.text(value, MAX_CHARS) };
}

class Refusal extends Error {}

interface Context {
  readonly value: number;
  readonly outer: Context | null;
}

class Renderer {
  readonly #known: ReadonlySet<string>;
  readonly #values: TemplateValues;
  #out = "";
  #steps = 0;

  constructor(known: ReadonlySet<string>, values: TemplateValues) {
    this.#known = known;
    this.#values = values;
  }

  run(tokens: readonly TemplateToken[]): string {
    this.#all(tokens, null);
    return this.#out;
  }

  #all(tokens: readonly TemplateToken[], context: Context | null): void {
    for (const token of tokens) {
      this.#step();
      const next = this.#values.next();
      this.#one(token, context);
      this.#values.forget(next);
    }
  }

  #step(): void {
    if (++this.#steps > MAX_STEPS) throw new Refusal("The template has more than a million parts");
  }

  #one(token: TemplateToken, context: Context | null): void {
    switch (token.type) {
      case "text":
        return this.#write(token.value);
      case "name":
      case "&":
        return this.#write(this.#textOf(token.value, context));
      case "#":
      case "^":
        return this.#section(token, context);
      default:
        return;
    }
  }

  #write(text: string): void {
    if (this.#out.length + text.length > MAX_CHARS) throw new Refusal("The rendered answer is longer than 1 MiB");
    this.#out += text;
  }

  #section({ type, value: tag, inside }: TemplateToken, context: Context | null): void {
    const values = this.#values, found = this.#resolve(tag, context);
    if (found !== MISSING && values.kind(found) === "function") {
      throw new Refusal("A section cannot call a function: give its result a name");
    }
    const first = values.next();
    if (found !== MISSING) values.addItems(found, type === "#" ? MAX_STEPS + 1 : 1);
    const end = values.next();
    if (type === "^") return end === first ? this.#all(inside, context) : undefined;
    for (let value = first; value < end; value++) {
      this.#step();
      this.#all(inside, { value, outer: context });
    }
  }

  /** What a section leaves out is empty; outside of sections every tag was checked before. */
  #textOf(tag: string, context: Context | null): string {
    const value = this.#resolve(tag, context);
    return value === MISSING || this.#values.kind(value) === "function" ? "" : this.#values.text(value, MAX_CHARS);
  }

  /** Searches from the innermost section outwards, then among the variables. */
  #resolve(tag: string, context: Context | null): number {
    if (tag === ".") return context ? context.value : MISSING;
    const path = pathOf(tag), values = this.#values;
    const [root, ...rest] = path ?? [];
    if (root === undefined) return MISSING;
    for (let at = context; at; at = at.outer) {
      const from = values.member(at.value, root);
      if (from !== MISSING) return follow(values, { from, path: rest });
    }
    return this.#known.has(root) ? follow(values, { from: values.variable(root), path: rest }) : MISSING;
  }
}

/** Throws Error if a section is not closed. */
function parseTemplate(template: string): TemplateToken[] {
  const parse: (text: string) => unknown = Mustache.parse;
  return tokensOf(parse(template));
}

function tokensOf(list: unknown): TemplateToken[] {
  if (!Array.isArray(list)) throw new TypeError("Cannot read the template: its parts are not a list");
  return list.map((one: unknown) => {
    const [type, value, , , inside]: unknown[] = Array.isArray(one) ? one : [];
    if (!isType(type) || typeof value !== "string") throw new TypeError("Cannot read the template: an unknown part");
    return { type, value, inside: type === "#" || type === "^" ? tokensOf(inside) : [] };
  });
}

function isType(type: unknown): type is TemplateToken["type"] {
  return typeof type === "string" && TYPES.includes(type);
}
