const NAME = /^[_$]*([A-Z][A-Z0-9]*(_[A-Z0-9]+)*|[a-zA-Z0-9$]*)$/;

function* namesOf(pattern: Deno.lint.Node | null): Generator<Deno.lint.Identifier> {
  if (pattern?.type === "Identifier") yield pattern;
  if (pattern?.type === "AssignmentPattern") yield* namesOf(pattern.left);
  if (pattern?.type === "RestElement") yield* namesOf(pattern.argument);
  if (pattern?.type === "ArrayPattern") { for (const one of pattern.elements) yield* namesOf(one); }
  if (pattern?.type === "ObjectPattern") {
    for (const one of pattern.properties) yield* namesOf(one.type === "Property" ? one.value : one);
  }
}

/** Declared names are camelCase, PascalCase or CONSTANT_CASE. Unlike the built-in rule, this rule ignores keys of
 * objects and types, because they may be names of a wire format or a table. */
export const camelCase: Deno.lint.Rule = {
  create(context) {
    const check = (pattern: Deno.lint.Node | null): void => {
      for (const node of namesOf(pattern)) {
        if (!NAME.test(node.name)) context.report({ node, message: `"${node.name}" is not in camel case` });
      }
    };
    const checkFunction = (node: { id?: Deno.lint.Node | null; params: readonly Deno.lint.Parameter[] }): void => {
      check(node.id ?? null);
      for (const one of node.params) check(one.type === "TSParameterProperty" ? one.parameter : one);
    };
    const checkMember = (node: { key: Deno.lint.Node }): void => check(node.key);
    return {
      VariableDeclarator: (node) => check(node.id),
      FunctionDeclaration: checkFunction,
      FunctionExpression: checkFunction,
      ArrowFunctionExpression: checkFunction,
      ClassDeclaration: (node) => check(node.id),
      PropertyDefinition: checkMember,
      MethodDefinition: checkMember,
    };
  },
};
