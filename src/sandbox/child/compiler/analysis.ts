import type {
  AnyNode,
  Class,
  Function as FunctionNode,
  Identifier,
  Pattern,
  Program,
  Statement,
  VariableDeclaration,
} from "acorn";

type Scope = { readonly names: Set<string>; readonly outer: Scope | null };

const CHILDREN = Symbol("children");

export function childNodes(node: AnyNode & { [CHILDREN]?: readonly AnyNode[] }): readonly AnyNode[] {
  if (node.type === "Identifier" || node.type === "Literal") return NO_CHILDREN;
  return node[CHILDREN] ??= listChildren(node);
}

function listChildren(node: AnyNode): readonly AnyNode[] {
  const children: AnyNode[] = [];
  for (const key in node) {
    const value: unknown = node[key as keyof AnyNode];
    if (typeof value !== "object" || value === null) continue;
    if (!Array.isArray(value)) { if (isNode(value)) children.push(value); }
    else for (const one of value) if (isNode(one)) children.push(one);
  }
  return children.length > 0 ? children : NO_CHILDREN;
}

const NO_CHILDREN: readonly AnyNode[] = [];

/** A walk calls itself for each level, and the tree of `a.b.c` has one level for each name. */
const MAX_DEPTH = 1_000;

export function sizeOf(tree: AnyNode): { readonly nodes: number; readonly longest: Identifier | null } | null {
  let level: AnyNode[] = [tree], nodes = 0;
  let longest: Identifier | null = null;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return null;
    nodes += level.length;
    const next: AnyNode[] = [];
    for (const node of level) {
      if (node.type === "Identifier") { if (node.name.length > (longest?.name.length ?? 0)) longest = node; }
      else for (const child of childNodes(node)) next.push(child);
    }
    level = next;
  }
  return { nodes, longest };
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" &&
    "start" in value;
}

export function boundNames(pattern: Pattern): string[] {
  return boundIdentifiers(pattern).map(({ name }) => name);
}

export function boundIdentifiers(pattern: Pattern): Identifier[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern];
    case "ObjectPattern":
      return pattern.properties.flatMap((one) =>
        boundIdentifiers(one.type === "RestElement" ? one.argument : one.value)
      );
    case "ArrayPattern":
      return pattern.elements.flatMap((one) => one ? boundIdentifiers(one) : []);
    case "AssignmentPattern":
      return boundIdentifiers(pattern.left);
    case "RestElement":
      return boundIdentifiers(pattern.argument);
    default:
      return [];
  }
}

const FREE = Symbol("free names");

export function freeNames(part: AnyNode & { [FREE]?: readonly string[] }): readonly string[] {
  return part[FREE] ??= listFreeNames(part);
}

function listFreeNames(part: AnyNode): readonly string[] {
  const names = new Set<string>();
  if (part.type !== "Program") { for (const { name } of freeIdentifiers(part)) names.add(name); }
  else {
    const bound = programScope(part).names;
    for (const statement of part.body) {
      for (const name of freeNames(statement)) if (!bound.has(name)) names.add(name);
    }
  }
  return [...names];
}

export function freeIdentifiers(part: AnyNode): Identifier[] {
  const walk = new FreeNames();
  walk.visit(part, part.type === "Program" ? programScope(part) : { names: ownNames(part), outer: null });
  return walk.free;
}

function programScope(program: Program): Scope {
  const names = new Set<string>();
  lexicalNames(program.body, names);
  for (const statement of program.body) varNames(statement, names);
  return { names, outer: null };
}

function ownNames(part: AnyNode): Set<string> {
  const names = new Set<string>();
  if (part.type !== "VariableDeclaration") varNames(part, names);
  return names;
}

function varNames(node: AnyNode, names: Set<string>): void {
  for (const { declarations } of nestedVars(node)) {
    for (const one of declarations) for (const name of boundNames(one.id)) names.add(name);
  }
}

const HOLDERS: ReadonlySet<string> = new Set(
  `Program BlockStatement IfStatement ForStatement ForInStatement ForOfStatement WhileStatement DoWhileStatement
  LabeledStatement SwitchStatement SwitchCase TryStatement CatchClause`.split(/\s+/),
);

export function nestedVars(node: AnyNode): readonly VariableDeclaration[] {
  if (node.type === "VariableDeclaration") return node.kind === "var" ? [node] : NO_VARS;
  if (!HOLDERS.has(node.type)) return NO_VARS;
  const found: VariableDeclaration[] = [];
  addVars(node, found);
  return found;
}

const NO_VARS: readonly VariableDeclaration[] = [];

function addVars(node: AnyNode, found: VariableDeclaration[]): void {
  for (const child of childNodes(node)) {
    if (child.type === "VariableDeclaration") { if (child.kind === "var") found.push(child); }
    else if (HOLDERS.has(child.type)) addVars(child, found);
  }
}

function lexicalNames(body: readonly (Statement | AnyNode)[], names: Set<string>): void {
  for (const node of body) {
    if (node.type === "VariableDeclaration" && node.kind !== "var") {
      for (const one of node.declarations) for (const name of boundNames(one.id)) names.add(name);
    } else if ((node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") && node.id) {
      names.add(node.id.name);
    }
  }
}

export function awaits(node: AnyNode): boolean {
  if (node.type === "AwaitExpression" || (node.type === "ForOfStatement" && node.await)) return true;
  if (node.type === "VariableDeclaration" && node.kind === "await using") return true;
  return !isFunction(node) && childNodes(node).some(awaits);
}

export function isFunction(node: AnyNode): node is FunctionNode & AnyNode {
  return node.type === "FunctionDeclaration" || node.type === "FunctionExpression" ||
    node.type === "ArrowFunctionExpression";
}

export function isClass(node: AnyNode): node is Class & AnyNode {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression";
}

function inner(outer: Scope, body: readonly AnyNode[] = []): Scope {
  const names = new Set<string>();
  lexicalNames(body, names);
  return { names, outer };
}

class FreeNames {
  readonly free: Identifier[] = [];

  visit(node: AnyNode, scope: Scope): void {
    if (isFunction(node)) return this.#function(node, scope);
    if (isClass(node)) return this.#class(node, scope);
    switch (node.type) {
      case "Identifier":
        return this.#refer(node, scope);
      case "VariableDeclarator":
        this.#pattern(node.id, scope);
        if (node.init) this.visit(node.init, scope);
        return;
      case "MemberExpression":
        this.visit(node.object, scope);
        if (node.computed) this.visit(node.property, scope);
        return;
      case "Property":
        if (node.computed) this.visit(node.key, scope);
        return this.visit(node.value, scope);
      case "BlockStatement":
        return this.#all(node, inner(scope, node.body));
      case "SwitchStatement":
        this.visit(node.discriminant, scope);
        return this.#switch(node.cases, scope);
      case "ForStatement":
        return this.#all(node, inner(scope, node.init ? [node.init] : []));
      case "ForInStatement":
      case "ForOfStatement":
        return this.#all(node, inner(scope, [node.left]));
      case "CatchClause": {
        const own = inner(scope);
        if (node.param) this.#bind(node.param, own);
        return this.visit(node.body, own);
      }
      case "LabeledStatement":
        return this.visit(node.body, scope);
      case "BreakStatement":
      case "ContinueStatement":
      case "MetaProperty":
        return;
      default:
        return this.#all(node, scope);
    }
  }

  #all(node: AnyNode, scope: Scope): void {
    for (const child of childNodes(node)) this.visit(child, scope);
  }

  #switch(cases: readonly AnyNode[], scope: Scope): void {
    const own = inner(scope, cases.flatMap((one) => one.type === "SwitchCase" ? one.consequent : []));
    for (const one of cases) this.#all(one, own);
  }

  #function(node: FunctionNode, scope: Scope): void {
    const own = inner(scope);
    if (node.type === "FunctionExpression" && node.id) own.names.add(node.id.name);
    if (node.type !== "ArrowFunctionExpression") own.names.add("arguments");
    for (const param of node.params) this.#bind(param, own);
    if (node.body.type !== "BlockStatement") return this.visit(node.body, own);
    varNames(node.body, own.names);
    this.visit(node.body, own);
  }

  #class(node: Class, scope: Scope): void {
    const own = inner(scope);
    if (node.id) own.names.add(node.id.name);
    if (node.superClass) this.visit(node.superClass, own);
    for (const member of node.body.body) {
      if (member.type === "StaticBlock") {
        const block = inner(own, member.body);
        for (const statement of member.body) varNames(statement, block.names);
        for (const statement of member.body) this.visit(statement, block);
        continue;
      }
      if (member.computed) this.visit(member.key, own);
      if (member.value) this.visit(member.value, own);
    }
  }

  #bind(pattern: Pattern, scope: Scope): void {
    for (const name of boundNames(pattern)) scope.names.add(name);
    this.#pattern(pattern, scope);
  }

  #pattern(pattern: Pattern, scope: Scope): void {
    switch (pattern.type) {
      case "Identifier":
        return;
      case "ObjectPattern":
        for (const one of pattern.properties) {
          if (one.type === "RestElement") this.#pattern(one.argument, scope);
          else {
            if (one.computed) this.visit(one.key, scope);
            this.#pattern(one.value, scope);
          }
        }
        return;
      case "ArrayPattern":
        for (const one of pattern.elements) if (one) this.#pattern(one, scope);
        return;
      case "AssignmentPattern":
        this.#pattern(pattern.left, scope);
        return this.visit(pattern.right, scope);
      case "RestElement":
        return this.#pattern(pattern.argument, scope);
      default:
        return this.visit(pattern, scope);
    }
  }

  #refer(node: Identifier, scope: Scope): void {
    for (let at: Scope | null = scope; at; at = at.outer) if (at.names.has(node.name)) return;
    this.free.push(node);
  }
}

export const LANGUAGE_NAMES: ReadonlySet<string> = new Set(
  `AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date
  DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array
  Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp
  Set SharedArrayBuffer String SuppressedError Symbol SyntaxError Temporal TypeError URIError Uint16Array Uint32Array
  Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet arguments decodeURI decodeURIComponent encodeURI encodeURIComponent
  escape eval isFinite isNaN parseFloat parseInt undefined unescape`.split(/\s+/),
);
