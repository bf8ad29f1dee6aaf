/** `#name` holds at run time, `private` does not. */
export const noPrivateKeyword: Deno.lint.Rule = {
  create(context) {
    const check = (node: Deno.lint.Node & { accessibility?: string | undefined }): void => {
      if (node.accessibility === "private") context.report({ node, message: "Use #name instead of private" });
    };
    return { PropertyDefinition: check, MethodDefinition: check, TSParameterProperty: check };
  },
};
