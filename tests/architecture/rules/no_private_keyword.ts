interface Marked {
  readonly accessibility?: string | undefined;
}

/** `#name` holds at run time, `private` does not. */
export const noPrivateKeyword: Deno.lint.Rule = {
  create(context) {
    const check = (node: Deno.lint.Node, marked: Marked): void => {
      if (marked.accessibility === "private") context.report({ node, message: "Use #name instead of private" });
    };
    return {
      PropertyDefinition: (node) => check(node, node),
      MethodDefinition(node) {
        check(node, node);
        for (const parameter of node.value?.params ?? []) {
          if (parameter.type === "TSParameterProperty") check(node, parameter);
        }
      },
    };
  },
};
