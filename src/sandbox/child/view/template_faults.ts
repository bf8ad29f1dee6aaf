import { nearestName } from "../../../domain/kit/names.ts";
import { follow, MISSING, pathOf, type TemplateValues } from "./template_path.ts";

export interface TemplateScope {
  readonly known: ReadonlySet<string>;
  readonly values: TemplateValues;
}

const HELPER = /^(?:each|if|unless|with|for|elif|else|end\w*|range)\b/u;
/** `{{ color: 'red' }}` is an object, `{{ .Values.x }}` a tag of another language. */
const EXPRESSION = /^[\p{ID_Start}$_(!](?!\w*\s*:)/u;
const ROOT = /^[\p{ID_Start}$_][\p{ID_Continue}$]*/u;
const MAX_TAG = 500, MAX_FAULTS = 8;
const AS_THEY_ARE = "braces that are meant literally belong in a code span or in answer(text)";

export interface CheckedTemplate {
  /** Whether a tag begins with the name of a variable; otherwise there is nothing to fill in. */
  readonly namesVariable: boolean;
  /** What is wrong with each tag, or null. */
  readonly faults: string | null;
}

/** If no tag names a variable, tags inside code and after `$` are text. */
export function checkTemplate(template: string, scope: TemplateScope): CheckedTemplate {
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
    unknown ||= fault !== null && !scope.known.has(pathOf(name)?.[0] ?? "");
    if (sigil === "#" || sigil === "^") sections++;
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
  /** It follows a `$`. */
  readonly literal: boolean;
}

/** Tags of ordinary length, in one pass. */
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

/** The text without fenced blocks and code spans. */
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

/** A run of backticks opens a span that the next run of the same length closes. */
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
  if (sigil === ">") return "is a partial, and there are none";
  if (sigil === "=") return "changes the delimiters, which is not possible";
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
    return `names no variable${near === null ? "" : ` (${near} is one)`}`;
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
