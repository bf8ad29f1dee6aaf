import { type ComponentChildren, Fragment, options } from "preact";
import { clean } from "./clean.ts";

/** Makes every text of every element pass through `clean`, whoever wrote the component. */
export function cleanElements(): void {
  const { vnode: before } = options;
  options.vnode = (vnode) => {
    if (typeof vnode.type === "string" || vnode.type === Fragment) {
      const props = vnode.props as { children?: ComponentChildren };
      if (props.children !== undefined) props.children = cleaned(props.children);
    }
    before?.(vnode);
  };
}

function cleaned(children: ComponentChildren): ComponentChildren {
  if (typeof children === "string") return clean(children);
  return Array.isArray(children) ? children.map(cleaned) : children;
}
