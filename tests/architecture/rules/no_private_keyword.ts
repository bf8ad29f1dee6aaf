/** `#name` is private at run time, `private` is not. */
export const noPrivateKeyword: Deno.lint.Rule = {
  create(context) {
    const report = (node: Deno.lint.Node): void => context.report({ node, message: "Use #name instead of private" });
    const check = (node: Deno.lint.PropertyDefinition | Deno.lint.MethodDefinition): void => {
      if (node.accessibility === "private") report(node);
    };
    return {
      PropertyDefinition: check,
      MethodDefinition: check,
      // The node of a parameter lacks its accessibility, so the text shows it.
      TSParameterProperty(node) {
        const whole = node as unknown as Deno.lint.Node;
        if (/^private\b/.test(context.sourceCode.getText(whole))) report(whole);
      },
    };
  },
};
