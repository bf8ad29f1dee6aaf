import { placeOf } from "./_place.ts";

/** `src/app.ts` reads the environment once, and all other code gets values. */
export const envOnlyInApp: Deno.lint.Rule = {
  create(context) {
    const { path, around } = placeOf(context);
    if (around || path === "src/app.ts") return {};
    return {
      MemberExpression(node) {
        const owner = node.object.type === "Identifier" ? node.object.name : "";
        const name = node.property.type === "Identifier"
          ? node.property.name
          : node.property.type === "Literal"
          ? node.property.value
          : "";
        if (name === "env" && (owner === "Deno" || owner === "process")) {
          context.report({ node, message: `${owner}.env outside src/app.ts`, hint: "Take the value from Config" });
        }
      },
    };
  },
};
