import type { AnyNode, ExportNamedDeclaration, Pattern, VariableDeclarator } from "acorn";
import { boundNames } from "../syntax/analysis.ts";
import type { SourceEdit } from "../syntax/edits.ts";

/** Names that an export of a namespace declares. */
export function exportedNames({ declaration }: ExportNamedDeclaration): string[] {
  if (!declaration) return [];
  if (declaration.type === "VariableDeclaration") return declaration.declarations.flatMap(({ id }) => boundNames(id));
  return [declaration.id.name];
}

/** The names of an export that also exist in the body: functions and classes. */
export function localExports(node: AnyNode): string[] {
  if (node.type !== "ExportNamedDeclaration" || node.declaration?.type === "VariableDeclaration") return [];
  return exportedNames(node);
}

/** `export const x = 1` becomes `A.x = 1`, `export function f() {}` becomes `function f() {}A.f=f;`. */
export function exportEdits(node: ExportNamedDeclaration, object: string): SourceEdit[] {
  const { declaration, start, end } = node;
  if (!declaration) return [];
  if (declaration.type !== "VariableDeclaration") {
    const { name } = declaration.id;
    return [blank(start, declaration.start), insert(end, `;${object}.${name}=${name};`)];
  }
  const kept = declaration.declarations.filter(({ init }) => init);
  const [first] = kept;
  if (!first) return [{ start, end, text: ";" }];
  const edits: SourceEdit[] = [{ start, end: first.start, text: first.id.type === "Identifier" ? "" : ";" }];
  kept.forEach((one, i) => {
    const next = kept[i + 1];
    if (next) edits.push({ start: one.end, end: next.start, text: ", " });
    else if (one.end < lastOf(declaration.declarations).end) {
      edits.push({ start: one.end, end: lastOf(declaration.declarations).end, text: "" });
    }
    edits.push(...declaratorEdits(one, object));
  });
  return edits;
}

function lastOf(list: readonly VariableDeclarator[]): AnyNode {
  return list.at(-1)!;
}

function declaratorEdits({ id, start, end }: VariableDeclarator, object: string): SourceEdit[] {
  if (id.type === "Identifier") return [insert(start, `${object}.`)];
  return [insert(start, "("), ...patternEdits(id, object), insert(end, ")")];
}

/** `{ a, b: [c] }` as the target of an assignment to properties. */
function patternEdits(pattern: Pattern, object: string): SourceEdit[] {
  switch (pattern.type) {
    case "Identifier":
      return [insert(pattern.start, `${object}.`)];
    case "ObjectPattern":
      return pattern.properties.flatMap((one) => {
        if (one.type === "RestElement") return patternEdits(one.argument, object);
        const edits = patternEdits(one.value, object);
        if (!one.shorthand || one.key.type !== "Identifier") return edits;
        return [insert(one.start, `${one.key.name}:`), ...edits];
      });
    case "ArrayPattern":
      return pattern.elements.flatMap((one) => one ? patternEdits(one, object) : []);
    case "AssignmentPattern":
      return patternEdits(pattern.left, object);
    case "RestElement":
      return patternEdits(pattern.argument, object);
    default:
      return [];
  }
}

function insert(at: number, text: string): SourceEdit {
  return { start: at, end: at, text };
}

function blank(start: number, end: number): SourceEdit {
  return { start, end, text: " ".repeat(end - start) };
}
