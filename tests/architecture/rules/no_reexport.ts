import { placeOf } from "./_place.ts";

/** The one-screen surface of extensions passes zod and Vis's own small functions on, so that an extension needs no
 * dependency of its own. */
const SURFACE = ["src/extension/spec.ts", "src/extension/kit.ts"];

/** No barrels: a name is exported by the file that defines it and imported from there. */
export const noReexport: Deno.lint.Rule = {
  create(context) {
    const { path, program } = placeOf(context);
    if (!program || SURFACE.includes(path)) return {};
    const imported = new Set<string>();
    const report = (node: Deno.lint.Node): void =>
      context.report({ node, message: "Re-export", hint: "Import from the file that defines the name" });
    return {
      Program(node) {
        for (const statement of node.body) {
          if (statement.type !== "ImportDeclaration") continue;
          for (const specifier of statement.specifiers) imported.add(specifier.local.name);
        }
      },
      ExportAllDeclaration: report,
      ExportNamedDeclaration(node) {
        if (node.source) return report(node);
        for (const { local } of node.specifiers) {
          if (local.type === "Identifier" && imported.has(local.name)) report(node);
        }
      },
      ExportDefaultDeclaration(node) {
        if (node.declaration.type === "Identifier" && imported.has(node.declaration.name)) report(node);
      },
    };
  },
};
