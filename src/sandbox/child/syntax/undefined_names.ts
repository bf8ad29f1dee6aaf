import { type AnyNode, parse, type Program } from "acorn";
import { childNodes, freeIdentifiers } from "./analysis.ts";

/** Names that a plain JavaScript module uses, and that neither it nor the platform defines. A name that is only an
 * operand of `typeof` counts as asked for. */
export function undefinedNames(code: string): readonly { readonly name: string; readonly line: number }[] {
  const program = parse(code, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true, locations: true });
  const imported = new Set(
    program.body.flatMap((node) =>
      node.type === "ImportDeclaration" ? node.specifiers.map(({ local }) => local.name) : []
    ),
  );
  const asked = new Set(operandsOfTypeof(program));
  const found = new Map<string, { readonly name: string; readonly line: number }>();
  for (const node of freeIdentifiers(withoutModuleSyntax(program))) {
    const { name, start, loc } = node;
    if (imported.has(name) || name in globalThis || asked.has(start) || found.has(name)) continue;
    found.set(name, { name, line: loc?.start.line ?? 1 });
  }
  return [...found.values()];
}

/** What the module declares and evaluates, without imports and lists of exports. */
function withoutModuleSyntax(program: Program): Program {
  const body = program.body.flatMap((node): Program["body"] => {
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
        return [];
      case "ExportNamedDeclaration":
        if (node.declaration) return [node.declaration];
        return node.source
          ? []
          : node.specifiers.flatMap(({ local }) => local.type === "Identifier" ? [used(local)] : []);
      case "ExportDefaultDeclaration": {
        const { declaration: own } = node;
        return own.type === "FunctionDeclaration" || own.type === "ClassDeclaration" ? [own as never] : [used(own)];
      }
      default:
        return [node];
    }
  });
  const { type, sourceType, start, end } = program;
  return { type, sourceType, start, end, body };
}

function used(expression: AnyNode): Program["body"][number] {
  const { start, end } = expression;
  return { type: "ExpressionStatement", expression, start, end } as Program["body"][number];
}

function operandsOfTypeof(node: AnyNode): readonly number[] {
  const own = node.type === "UnaryExpression" && node.operator === "typeof" ? [node.argument.start] : [];
  return [...own, ...childNodes(node).flatMap(operandsOfTypeof)];
}
