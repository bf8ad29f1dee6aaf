import { placeOf } from "./_place.ts";

const SQL =
  /^\s*(select\s.+\sfrom\s|insert\s+into\s|update\s.+\sset\s|delete\s+from\s|create\s+(table|index)|pragma\s)/is;

/** Only `src/persistence/` contains SQL statements in strings and templates. */
export const sqlOnlyInPersistence: Deno.lint.Rule = {
  create(context) {
    const { path, around } = placeOf(context);
    if (around || path.startsWith("src/persistence/")) return {};
    const report = (node: Deno.lint.Node): void => context.report({ node, message: "SQL outside src/persistence/" });
    return {
      Literal(node) {
        if (typeof node.value === "string" && SQL.test(node.value)) report(node);
      },
      TemplateElement(node) {
        if (SQL.test(node.raw)) report(node);
      },
    };
  },
};
