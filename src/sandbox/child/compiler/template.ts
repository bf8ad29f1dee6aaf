import Mustache from "mustache";
import { nearestName } from "../../../domain/kit/names.ts";
import { MISSING, type TemplateValues, type TextForm } from "./restored_script.ts";

/** This type must equal the sandbox's `RenderReport`. */
export type Rendered =
  | { readonly ok: true; readonly from: "variable" | "template" | "literal"; readonly text: string }
  | { readonly ok: false; readonly reason: string };

interface TemplateToken {
  readonly type: "text" | "name" | "&" | "#" | "^" | ">" | "!" | "=";
  readonly value: string;
  readonly inside: readonly TemplateToken[];
}

const TYPES: readonly string[] = ["text", "name", "&", "#", "^", ">", "!", "="];

const MAX_CHARS = 1 << 20, MAX_STEPS = 1_000_000;

interface RenderOptions extends TextForm {
  readonly values: TemplateValues;
}

/** Rendering calls no function or getter. */
export function render(template: string, { values, json }: RenderOptions): Rendered {
  values.forget(0); // The values may belong to a rendering that was stopped.
  const names: unknown = JSON.parse(values.names());
  const known = new Set<string>(Array.isArray(names) ? names : []);
  const single = template.trim();
  if (pathOf(single)?.length === 1 && known.has(single)) return ofVariable(single, { values, json });
  if (!template.includes("{{")) return { ok: true, from: "literal", text: template };
  const { namesVariable, faults } = checkTemplate(template, { known, values });
  if (faults !== null) return { ok: false, reason: faults };
  if (!namesVariable) return { ok: true, from: "literal", text: template };
  try {
    return { ok: true, from: "template", text: new Renderer(known, { values, json }).run(parseTemplate(template)) };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message };
    return { ok: false, reason: `Vis cannot read the template: ${error instanceof Error ? error.message : "unknown"}` };
  }
}

function ofVariable(name: string, { values, json }: RenderOptions): Rendered {
  const value = values.variable(name), kind = values.kind(value);
  if (kind === "undefined" || kind === "null") return { ok: false, reason: `The variable ${name} is ${kind}` };
  return { ok: true, from: "variable", text: withoutBlankEnds(values.text(value, { json, chars: MAX_CHARS })) };
}

function withoutBlankEnds(text: string): string {
  return text.startsWith("\n\n") && text.endsWith("\n\n") ? text.replace(/^\n+|\n+$/g, "") : text;
}

class Refusal extends Error {}

interface Context {
  readonly value: number;
  readonly outer: Context | null;
}

class Renderer {
  readonly #known: ReadonlySet<string>;
  readonly #values: TemplateValues;
  readonly #json: boolean;
  #out = "";
  #steps = 0;

  constructor(known: ReadonlySet<string>, { values, json }: RenderOptions) {
    this.#known = known;
    this.#values = values;
    this.#json = json;
  }

  run(tokens: readonly TemplateToken[]): string {
    this.#all(tokens, null);
    return this.#out;
  }

  #all(tokens: readonly TemplateToken[], context: Context | null): void {
    for (const [at, token] of tokens.entries()) {
      this.#step();
      const next = this.#values.next();
      this.#one(token, { context, after: tokens[at + 1] });
      this.#values.forget(next);
    }
  }

  #step(): void {
    if (++this.#steps > MAX_STEPS) {
      throw new Refusal(`The template renders more than ${MAX_STEPS} parts, the limit; shorten its lists`);
    }
  }

  #one(
    token: TemplateToken,
    { context, after }: { readonly context: Context | null; readonly after: TemplateToken | undefined },
  ): void {
    switch (token.type) {
      case "text":
        return this.#write(token.value);
      case "name":
      case "&":
        return this.#write(this.#placed(this.#textOf(token.value, context), after));
      case "#":
      case "^":
        return this.#section(token, context);
      default:
        return;
    }
  }

  #write(text: string): void {
    if (this.#out.length + text.length > MAX_CHARS) {
      throw new Refusal(`The rendered answer has more than ${MAX_CHARS} characters, the limit; shorten the answer`);
    }
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

  /** Output of a command may end with a line feed, which would break a line such as `**{{version}}**`. */
  #placed(text: string, after: TemplateToken | undefined): string {
    const placed = this.#out === "" && text.startsWith("\n\n") ? text.substring(2) : text;
    if (after && after.type !== "text") return placed;
    const isInLine = after && !/^\r?\n/.test(after.value) || this.#out !== "" && !this.#out.endsWith("\n");
    return isInLine ? placed.replace(/(?<!\n)\r?\n$/, "") : placed;
  }

  #textOf(tag: string, context: Context | null): string {
    const value = this.#resolve(tag, context);
    if (value === MISSING || this.#values.kind(value) === "function") return "";
    return this.#values.text(value, { json: this.#json, chars: MAX_CHARS });
  }

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

function parseTemplate(template: string): TemplateToken[] {
  const parse: (text: string) => unknown = Mustache.parse;
  return tokensOf(parse(template));
}

function tokensOf(list: unknown): TemplateToken[] {
  if (!Array.isArray(list)) throw new TypeError("Cannot read the template: its parts are not a list");
  return list.map((one: unknown) => {
    const [type, value, , , inside]: unknown[] = Array.isArray(one) ? one : [];
    if (!isType(type) || typeof value !== "string") {
      throw new TypeError("Cannot read the template: it has an unknown part");
    }
    return { type, value, inside: type === "#" || type === "^" ? tokensOf(inside) : [] };
  });
}

function isType(type: unknown): type is TemplateToken["type"] {
  return typeof type === "string" && TYPES.includes(type);
}

interface TemplateScope {
  readonly known: ReadonlySet<string>;
  readonly values: TemplateValues;
}

const HELPER = /^(?:each|if|unless|with|for|elif|else|end\w*|range)\b/u;
/** An object, `{{ color: 'red' }}`, and a tag of another language, `{{ .Values.x }}`, do not match. */
const EXPRESSION = /^[\p{ID_Start}$_(!](?!\w*\s*:)/u;
const ROOT = /^[\p{ID_Start}$_][\p{ID_Continue}$]*/u;
const MAX_TAG = 500, MAX_FAULTS = 8;
const AS_THEY_ARE = "put literal braces into a code span or into answer(text)";

interface CheckedTemplate {
  readonly namesVariable: boolean;
  readonly faults: string | null;
}

function checkTemplate(template: string, scope: TemplateScope): CheckedTemplate {
  const all = tagsOf(template);
  const namesVariable = all.some(({ name }) => scope.known.has(ROOT.exec(name)?.[0] ?? ""));
  const tags = namesVariable ? all : tagsOf(withoutCode(template)).filter(({ literal }) => !literal);
  return { namesVariable, faults: faultsOf(tags, scope) };
}

function faultsOf(tags: readonly Tag[], scope: TemplateScope): string | null {
  const faults = new Set<string>();
  let unknown = false;
  let sections = 0;
  for (const { sigil, name } of tags) {
    if (sigil === "!") continue;
    const fault = faultOf({ sigil, name, inside: sections > 0 }, scope);
    if (fault !== null) faults.add(`{{${sigil}${name}}} ${fault}`);
    const isSection = sigil === "#" || sigil === "^";
    const isUnknown = fault !== null && !scope.known.has(pathOf(name)?.[0] ?? "");
    unknown ||= isUnknown && !(isSection && pathOf(name) !== null && !HELPER.test(name));
    if (isSection) sections++;
    if (sigil === "/") sections--;
  }
  if (faults.size === 0) return null;
  const shown = [...faults].slice(0, MAX_FAULTS);
  if (faults.size > MAX_FAULTS) shown.push(`${faults.size - MAX_FAULTS} more`);
  return `${shown.join("; ")}${unknown ? `. (${AS_THEY_ARE})` : ""}`;
}

interface Tag {
  readonly sigil: string;
  readonly name: string;
  readonly literal: boolean;
}

function tagsOf(text: string): Tag[] {
  const tags: Tag[] = [];
  for (let open = text.indexOf("{{"); open !== -1;) {
    const close = text.indexOf("}}", open + 2);
    if (close === -1) break;
    const inner = text.indexOf("{{", open + 3);
    if (inner !== -1 && inner < close || close - open > MAX_TAG) {
      open = inner;
      continue;
    }
    const whole = text.slice(open + 2, close).replace(/^\{/, "").trim();
    const sigil = /^[#^&/!>=]/.exec(whole)?.[0] ?? "";
    tags.push({ sigil, name: whole.slice(sigil.length).trim(), literal: text[open - 1] === "$" });
    open = inner;
  }
  return tags;
}

function withoutCode(text: string): string {
  let fence = "";
  return text.split("\n").map((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence !== "") {
      if (mark.startsWith(fence)) fence = "";
      return "";
    }
    fence = mark;
    return mark === "" ? withoutSpans(line) : "";
  }).join("\n");
}

function withoutSpans(line: string): string {
  const parts = line.split(/(`+)/);
  const last = new Map(parts.map((part, at) => [part, at]));
  let out = "";
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!;
    const closes = part.startsWith("`") && last.get(part)! > at;
    if (!closes) out += part;
    else at = parts.indexOf(part, at + 1);
  }
  return out;
}

function faultOf(
  { sigil, name, inside }: { readonly sigil: string; readonly name: string; readonly inside: boolean },
  { known, values }: TemplateScope,
): string | null {
  if (name === "" || name === ".") return null;
  if (sigil === ">") return "is a partial, and Vis has no partials";
  if (sigil === "=") return "changes the delimiters, which Vis does not support";
  if (HELPER.test(name) && !known.has(name)) {
    return sigil === "/"
      ? null
      : "is not Mustache: {{#list}}…{{/list}} repeats and tests, {{^list}}…{{/list}} is the else";
  }
  if (sigil === "/") return null;
  const path = pathOf(name);
  const [root = "", ...rest] = path ?? [];
  if (path === null) {
    return EXPRESSION.test(name) ? "is an expression: compute it in code and use the name of the result" : null;
  }
  if (!known.has(root)) {
    if (inside) return null;
    const near = nearestName(root, [...known]);
    const cure = sigil === "#" || sigil === "^" ? `: declare ${root} in code, or remove the section` : "";
    return `names no variable${near === null ? "" : ` (${near} is one)`}${cure}`;
  }
  const value = values.variable(root);
  if (values.kind(value) === "promise") return `is a promise: ${root} = await … in code`;
  const found = follow(values, { from: value, path: rest });
  if (found === MISSING) {
    return inside || sigil === "#" || sigil === "^" ? null : `does not exist: ${root} ${values.holds(value)}`;
  }
  const kind = values.kind(found);
  if (kind === "function") return "is a function: give its result a name and use that";
  if (sigil === "" || sigil === "&") return !inside && (kind === "undefined" || kind === "null") ? `is ${kind}` : null;
  return null;
}

function pathOf(tag: string): string[] | null {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*(\.[\p{ID_Continue}$]+)*$/u.test(tag) ? tag.split(".") : null;
}

function follow(values: TemplateValues, { from, path }: { from: number; path: readonly string[] }): number {
  let at = from;
  for (const key of path) if (at !== MISSING) at = values.member(at, key);
  return at;
}
