import type { AnyNode, FunctionDeclaration, Identifier, Program } from "acorn";
import { boundNames, childNodes, freeIdentifiers, isFunction } from "../syntax/analysis.ts";
import { applyEdits, type SourceEdit } from "../syntax/edits.ts";
import { freeSuffix } from "../syntax/free_suffix.ts";
import type { PositionMap } from "../syntax/position_map.ts";
import { exportEdits, exportedNames, localExports } from "./namespace_exports.ts";
import { referenceEdits } from "./namespace_names.ts";

/** Text without namespaces: each is a call of a function that fills an object. */
export interface Unfolded {
  readonly ok: true;
  readonly js: string;
  /** From `js` to the text with the markers. */
  readonly map: PositionMap;
  /** The exports of each top-level namespace, without nested namespaces. */
  readonly exports: ReadonlyMap<string, readonly string[]>;
}

export interface Unparsed {
  readonly ok: false;
  readonly message: string;
  /** In the text that was parsed. */
  readonly offset: number;
}

type Paths = ReadonlyMap<string, readonly string[]>;
type List = readonly AnyNode[];

/** One name in a namespace's path, for one body. */
export interface Level {
  readonly name: string;
  /** Name of its object inside the body. */
  readonly param: string;
  readonly body: FunctionDeclaration;
  /** The same for all bodies that fill one object. */
  readonly key: string;
  readonly outer: Level | null;
  /** Whether it is a property of the outer namespace's object. */
  readonly exported: boolean;
}

export const DECLARATIONS_ONLY = "A namespace exports declarations only: write export before each";
const PLACE = "A namespace stands at the top level of a block or directly in another namespace";

/** Compiles namespaces as the TypeScript compiler does. `program` was parsed with exports allowed everywhere. */
export function unfoldNamespaces(
  program: Program,
  { js, paths }: { readonly js: string; readonly paths: Paths },
): Unfolded | Unparsed {
  const unfolding = new Unfolding(js, paths);
  const misplaced = unfolding.misplaced(program);
  if (misplaced) return { ok: false, message: PLACE, offset: misplaced.start };
  unfolding.collect(program.body, null);
  const refused = unfolding.refused;
  if (refused) return { ok: false, ...refused };
  unfolding.write(program.body, null);
  const { text, map } = applyEdits(js, unfolding.edits);
  return { ok: true, js: text, map, exports: unfolding.topLevel };
}

class Unfolding {
  readonly #js: string;
  readonly #paths: Paths;
  readonly edits: SourceEdit[] = [];
  /** Innermost level of each body, which leads to the others. */
  readonly #levels = new Map<AnyNode, Level>();
  readonly #exports = new Map<string, Set<string>>();
  readonly #claimed = new Set<Identifier>();
  readonly topLevel = new Map<string, string[]>();
  refused: { readonly message: string; readonly offset: number } | null = null;

  constructor(js: string, paths: Paths) {
    this.#js = js;
    this.#paths = paths;
  }

  #marked(node: AnyNode): FunctionDeclaration | null {
    const inner = node.type === "ExportNamedDeclaration" && node.declaration ? node.declaration : node;
    return inner.type === "FunctionDeclaration" && inner.id && this.#paths.has(inner.id.name) ? inner : null;
  }

  /** A namespace inside a function or a statement. */
  misplaced(node: AnyNode, allowed = true): AnyNode | null {
    const body = node.type === "Program" ? node.body : this.#marked(node)?.body.body;
    if (!allowed && body && node.type !== "Program") return node;
    for (const child of body ?? childNodes(node)) {
      const found = this.misplaced(child, body !== undefined);
      if (found) return found;
    }
    return null;
  }

  /** Collects the exports of every namespace before any body is written: bodies of one namespace see each other's. */
  collect(list: List, outer: Level | null): void {
    for (const node of list) {
      const body = this.#marked(node);
      if (!body) {
        if (outer && node.type.startsWith("Export")) this.#collectExport(node, outer);
        continue;
      }
      const exported = node.type === "ExportNamedDeclaration";
      const inner = this.#chain(body, { outer, exported });
      this.#levels.set(body, inner);
      if (!hasCode(body, this.#paths)) continue;
      for (let at: Level | null = inner; at && at !== outer; at = at.outer) {
        if (at.outer && at.exported) this.#add(at.outer.key, at.name);
      }
      this.collect(body.body.body, inner);
    }
  }

  #collectExport(node: AnyNode, level: Level): void {
    if (node.type !== "ExportNamedDeclaration" || !node.declaration) {
      this.refused ??= { message: DECLARATIONS_ONLY, offset: node.start };
      return;
    }
    for (const name of exportedNames(node)) {
      this.#add(level.key, name);
      if (level.outer === null) this.topLevel.get(level.name)?.push(name);
    }
  }

  #add(key: string, name: string): void {
    const names = this.#exports.get(key) ?? new Set<string>();
    this.#exports.set(key, names.add(name));
  }

  #chain(body: FunctionDeclaration, { outer, exported }: { outer: Level | null; exported: boolean }): Level {
    let at = outer, isExported = exported;
    for (const name of this.#paths.get(body.id.name) ?? []) {
      const key = at ? `${at.key}${isExported ? "." : ` ${at.body.start} `}${name}` : name;
      if (!at) this.topLevel.set(name, this.topLevel.get(name) ?? []);
      const param = bindsName(body.body, name) ? name + freeSuffix(this.#js) : name;
      at = { name, param, body, key, outer: at, exported: isExported };
      isExported = true;
    }
    if (!at) throw new TypeError("Cannot unfold a namespace: it has no name");
    return at;
  }

  write(list: List, outer: Level | null): void {
    const declared = new Set<string>(list.flatMap(declaredNames));
    for (const node of list) {
      const body = this.#marked(node);
      const level = body && this.#levels.get(body);
      if (body && level) this.#namespace(node, { level, outer, declared });
      else if (outer && node.type === "ExportNamedDeclaration") this.edits.push(...exportEdits(node, outer.param));
    }
  }

  #namespace(node: AnyNode, { level, outer, declared }: Place): void {
    const { body } = level;
    if (!hasCode(body, this.#paths)) {
      const text = this.#js.slice(node.start, node.end).replace(/[^\n]/g, " ");
      this.edits.push({ start: node.start, end: node.end, text });
      if (!outer && this.topLevel.get(level.name)?.length === 0) this.topLevel.delete(level.name);
      return;
    }
    this.write(body.body.body, level);
    let open = "", close = "";
    for (let at: Level = level;; at = at.outer) {
      open = `(function (${at.param}) {${open}`;
      close += `})(${this.#object(at, declared)});`;
      if (!at.outer || at.outer === outer) {
        open = `${this.#declaration(at, declared)};${open}`;
        break;
      }
    }
    const start = outer ? node.start : body.start; // top-level exports are refused as usual
    this.edits.push({ start, end: body.body.start + 1, text: open });
    this.edits.push({ start: body.end - 1, end: body.end, text: close });
    for (let at: Level | null = level; at && at !== outer; at = at.outer) this.#references(at);
  }

  #object({ name, outer, exported, body }: Level, declared: ReadonlySet<string>): string {
    const inside = outer && outer.body !== body && declared.has(name); // merges with a function or class beside it
    const object = outer && exported && !inside ? `${outer.param}.${name}` : name;
    return `${object}||(${object}={})`;
  }

  /** Always present at the top level: the rewriter recognizes a namespace by it. */
  #declaration({ name, outer, exported }: Level, declared: ReadonlySet<string>): string {
    if (outer ? exported || declared.has(name) : declared.has(name)) return "";
    return `var ${name}`;
  }

  /** Names in a body that refer to exports of an enclosing namespace. Inner levels come first and claim theirs. */
  #references(level: Level): void {
    const isInner = this.#levels.get(level.body) === level;
    const local = new Set<string>(isInner ? level.body.body.body.flatMap(localExports) : []);
    const names = this.#exports.get(level.key);
    const found = freeIdentifiers(level.body).filter((node) => !this.#claimed.has(node));
    const exported = found.filter(({ name }) => !local.has(name) && names?.has(name));
    for (const node of found) if (local.has(node.name) || names?.has(node.name)) this.#claimed.add(node);
    this.edits.push(...referenceEdits(level.body, { nodes: new Set(exported), prefix: `${level.param}.` }));
    for (const node of found) {
      if (this.#claimed.has(node) || node.name !== level.name) continue;
      this.#claimed.add(node);
      const { start, end } = node;
      if (level.param !== level.name) this.edits.push({ start, end, text: level.param });
    }
  }
}

interface Place {
  readonly level: Level;
  readonly outer: Level | null;
  /** Names of functions and classes beside it. */
  readonly declared: ReadonlySet<string>;
}

/** A namespace of types only does not exist at run time. */
function hasCode(body: FunctionDeclaration, paths: Paths): boolean {
  return body.body.body.some((node: AnyNode) => {
    const inner = node.type === "ExportNamedDeclaration" && node.declaration ? node.declaration : node;
    if (inner.type === "FunctionDeclaration" && inner.id && paths.has(inner.id.name)) return hasCode(inner, paths);
    return node.type !== "EmptyStatement";
  });
}

function declaredNames(node: AnyNode): string[] {
  const inner = node.type === "ExportNamedDeclaration" && node.declaration ? node.declaration : node;
  const isOne = inner.type === "FunctionDeclaration" || inner.type === "ClassDeclaration";
  return isOne && inner.id ? [inner.id.name] : [];
}

/** Whether something in a body may shadow the name. */
function bindsName(node: AnyNode, name: string): boolean {
  if (node.type === "VariableDeclarator" && boundNames(node.id).includes(name)) return true;
  if (node.type === "CatchClause" && node.param && boundNames(node.param).includes(name)) return true;
  if (isFunction(node) && node.params.some((param) => boundNames(param).includes(name))) return true;
  const named = isFunction(node) || node.type === "ClassDeclaration" || node.type === "ClassExpression";
  if (named && node.id?.name === name) return true;
  return childNodes(node).some((child) => bindsName(child, name));
}
