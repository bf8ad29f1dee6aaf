import { placeOf } from "./_place.ts";

const LIMIT = 2;
/** Types of a third parameter that are a value of its own, not a bag of named options. */
const PLAIN = new Set(["Array", "ReadonlyArray", "Uint8Array", "Map", "Set", "Promise", "Date", "RegExp", "URL"]);

function isPlainType(type: Deno.lint.Node | undefined): boolean {
  if (!type) return true;
  if (type.type === "TSTypeLiteral" || type.type === "TSIntersectionType") return false;
  if (type.type !== "TSTypeReference") return true;
  return type.typeName.type === "Identifier" && PLAIN.has(type.typeName.name);
}

function isOptions(parameter: Deno.lint.Parameter): boolean {
  if (parameter.type === "ObjectPattern") return true;
  if (parameter.type === "AssignmentPattern") {
    return parameter.right.type === "ObjectExpression" || isOptions(parameter.left as Deno.lint.Parameter);
  }
  return parameter.type === "Identifier" && !isPlainType(parameter.typeAnnotation?.typeAnnotation);
}

/** A host function takes its environment first and then what the model wrote. */
function isHostFunction(first: Deno.lint.Parameter | undefined): boolean {
  const type = first?.type === "Identifier" ? first.typeAnnotation?.typeAnnotation : undefined;
  return type?.type === "TSTypeReference" && type.typeName.type === "Identifier" &&
    type.typeName.name === "EnvironmentView";
}

/** Exported functions and the public methods of exported classes: two positional parameters, then options. */
export const maxPositionalParams: Deno.lint.Rule = {
  create(context) {
    if (!placeOf(context).program) return {};
    const check = (node: Deno.lint.Node, parameters: readonly Deno.lint.Parameter[]): void => {
      const named = parameters.length === LIMIT + 1 && isOptions(parameters[LIMIT]!);
      if (parameters.length <= LIMIT || named || isHostFunction(parameters[0])) return;
      context.report({ node, message: `${parameters.length} positional parameters: at most ${LIMIT}, then options` });
    };
    const checkClass = (node: Deno.lint.ClassDeclaration): void => {
      for (const member of node.body.body) {
        if (member.type !== "MethodDefinition" || member.key.type === "PrivateIdentifier") continue;
        if (member.value) check(member, member.value.params as Deno.lint.Parameter[]);
      }
    };
    const visit = (declaration: Deno.lint.Node | null): void => {
      if (declaration?.type === "FunctionDeclaration") check(declaration, declaration.params);
      if (declaration?.type === "ClassDeclaration") checkClass(declaration);
      if (declaration?.type !== "VariableDeclaration") return;
      for (const { init } of declaration.declarations) {
        if (init?.type === "ArrowFunctionExpression" || init?.type === "FunctionExpression") check(init, init.params);
      }
    };
    return {
      ExportNamedDeclaration: (node) => visit(node.declaration),
      ExportDefaultDeclaration: (node) => visit(node.declaration),
    };
  },
};
