import Mustache from "mustache";
import { look } from "../intrinsics/look.ts";
import { answerText } from "./reader_text.ts";
import { checkTemplate } from "./template_faults.ts";
import { follow, MISSING, pathOf } from "./template_path.ts";

/** How the text was resolved; the sandbox's `RenderReport`. */
export type Rendered =
  | { readonly ok: true; readonly from: "variable" | "template" | "literal"; readonly text: string }
  | { readonly ok: false; readonly reason: string };

export interface RenderOptions {
  readonly lookup: (name: string) => unknown;
  /** Names for which `lookup` has a value. */
  readonly names: readonly string[];
}

/** One part of a template: text, a tag with its name, or a section with its content. */
interface TemplateToken {
  readonly type: "text" | "name" | "&" | "#" | "^" | ">" | "!" | "=";
  readonly value: string;
  readonly inside: readonly TemplateToken[];
}

const TYPES: readonly string[] = ["text", "name", "&", "#", "^", ">", "!", "="];

const MAX_CHARS = 1 << 20, MAX_STEPS = 1_000_000;

/** Resolves the text of a final answer: the name of a variable, a Mustache template over variables, or plain text.
 * Nothing is escaped, no function or getter is called, and there are no partials. Never throws. */
export function render(template: string, { lookup, names }: RenderOptions): Rendered {
  const known = new Set(names);
  const single = template.trim();
  if (pathOf(single)?.length === 1 && known.has(single)) return ofVariable(single, lookup(single));
  if (!template.includes("{{")) return { ok: true, from: "literal", text: template };
  const { namesVariable, faults } = checkTemplate(template, { known, lookup });
  if (faults !== null) return { ok: false, reason: faults };
  if (!namesVariable) return { ok: true, from: "literal", text: template };
  try {
    return { ok: true, from: "template", text: new Renderer(known, lookup).run(parseTemplate(template)) };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message };
    return { ok: false, reason: `The template cannot be read: ${error instanceof Error ? error.message : "unknown"}` };
  }
}

function ofVariable(name: string, value: unknown): Rendered {
  if (value === undefined || value === null) return { ok: false, reason: `The variable ${name} is ${value}` };
  return { ok: true, from: "variable", text: answerText(value, MAX_CHARS) };
}

class Refusal extends Error {}

interface Context {
  readonly value: unknown;
  readonly outer: Context | null;
}

class Renderer {
  readonly #known: ReadonlySet<string>;
  readonly #lookup: (name: string) => unknown;
  #out = "";
  #steps = 0;

  constructor(known: ReadonlySet<string>, lookup: (name: string) => unknown) {
    this.#known = known;
    this.#lookup = lookup;
  }

  run(tokens: readonly TemplateToken[]): string {
    this.#all(tokens, null);
    return this.#out;
  }

  #all(tokens: readonly TemplateToken[], context: Context | null): void {
    for (const token of tokens) {
      this.#step();
      this.#one(token, context);
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
        return this.#write(answerText(this.#valueOf(token.value, context), MAX_CHARS));
      case "#":
        return this.#section(token, context);
      case "^":
        if (items(this.#sectionValue(token.value, context)).length === 0) this.#all(token.inside, context);
        return;
      default:
        return;
    }
  }

  #write(text: string): void {
    if (this.#out.length + text.length > MAX_CHARS) throw new Refusal("The rendered answer is longer than 1 MiB");
    this.#out += text;
  }

  #section(token: TemplateToken, context: Context | null): void {
    for (const value of items(this.#sectionValue(token.value, context))) {
      this.#step();
      this.#all(token.inside, { value, outer: context });
    }
  }

  #sectionValue(tag: string, context: Context | null): unknown {
    const value = this.#resolve(tag, context);
    return value === MISSING ? undefined : value;
  }

  /** What a section leaves out is empty; outside of sections every tag was checked before. */
  #valueOf(tag: string, context: Context | null): unknown {
    const value = this.#resolve(tag, context);
    return value === MISSING || typeof value === "function" ? "" : value;
  }

  /** Searches from the innermost section outwards, then among the variables. */
  #resolve(tag: string, context: Context | null): unknown {
    if (tag === ".") return context ? context.value : MISSING;
    const path = pathOf(tag);
    const [root, ...rest] = path ?? [];
    if (root === undefined) return MISSING;
    for (let at = context; at; at = at.outer) {
      const found = follow(at.value, [root]);
      if (found !== MISSING) return follow(found, rest);
    }
    return this.#known.has(root) ? follow(this.#lookup(root), rest) : MISSING;
  }
}

/** What a section iterates over: nothing for an empty or false value, the items of a list, else the value once. */
function items(value: unknown): unknown[] {
  if (value === undefined || value === null || value === false || value === "" || value === 0) return [];
  if (typeof value === "function") throw new Refusal("A section cannot call a function: give its result a name");
  if (typeof value !== "object" || look.isProxy(value)) return [value];
  if (look.isArray(value)) {
    const list: unknown[] = [];
    for (let i = 0; i < value.length && i <= MAX_STEPS; i++) {
      const descriptor = look.descriptorOf(value, i);
      if (descriptor && look.hasOwn(descriptor, "value")) list.push(descriptor.value);
    }
    return list;
  }
  if (!look.isSet(value)) return [value];
  const list: unknown[] = [], iterator = look.setValues(value);
  for (let n = look.setSize(value); n > 0; n--) list.push((look.setNext(iterator) as IteratorResult<unknown>).value);
  return list;
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
