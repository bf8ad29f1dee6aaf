import { placeOf } from "./_place.ts";

const CONTRACTION = /\w(n't|'(re|ve|ll|d|m))\b|\b(it|that|there|what|here|let|who)'s\b/i;
/** One word in lower case is a code or a probe, not a sentence. */
const CODE = /^[a-z]+(_[a-z]+)*$/;

/** Returns the text of a message as far as it is known. An expression inside counts as a word with a capital. */
function textOf(node: Deno.lint.Node | undefined): string | undefined {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type === "TemplateLiteral") return node.quasis.map((part) => part.raw).join("X");
  return undefined;
}

function faultsOf(text: string): string[] {
  return [
    ...(/^[A-Z]/.test(text) ? [] : ["Error message does not start with a capital"]),
    ...(/\.$|\. /.test(text) ? ["Error message has a full stop"] : []),
    ...(CONTRACTION.test(text) ? ["Error message has a contraction"] : []),
  ];
}

/** Checks the first argument of every error: `new XError("Cannot <action>: <current value>")`. */
export const errorMessage: Deno.lint.Rule = {
  create(context) {
    if (placeOf(context).path.startsWith("tests/")) return {};
    return {
      NewExpression(node) {
        if (node.callee.type !== "Identifier" || !node.callee.name.endsWith("Error")) return;
        const [first] = node.arguments;
        const text = textOf(first);
        if (!first || text === undefined || CODE.test(text)) return;
        for (const message of faultsOf(text)) context.report({ node: first, message });
      },
    };
  },
};
