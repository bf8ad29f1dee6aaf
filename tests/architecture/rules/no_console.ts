import { placeOf } from "./_place.ts";

/** Output belongs to the channels. An engine emits events and logs. */
export const noConsole: Deno.lint.Rule = {
  create(context) {
    const { path, around } = placeOf(context);
    if (around || path.startsWith("src/channels/")) return {};
    return {
      MemberExpression(node) {
        if (node.object.type !== "Identifier" || node.object.name !== "console") return;
        context.report({ node, message: "console outside src/channels/", hint: "Emit an event or log" });
      },
    };
  },
};
