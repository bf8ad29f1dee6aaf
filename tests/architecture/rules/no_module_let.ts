import { placeOf } from "./_place.ts";

/** An object with an owner holds state, not a module. */
export const noModuleLet: Deno.lint.Rule = {
  create(context) {
    if (placeOf(context).around) return {};
    return {
      Program(node) {
        for (const statement of node.body) {
          const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
          if (declaration?.type !== "VariableDeclaration" || !/^(let|var)$/.test(declaration.kind)) continue;
          context.report({
            node: declaration,
            message: `Module-level ${declaration.kind}`,
            hint: "Put the state into a class",
          });
        }
      },
    };
  },
};
