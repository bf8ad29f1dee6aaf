import { type ComponentChildren, Fragment, options } from "preact";
import { HIDDEN_CHARACTERS } from "../../domain/kit/text.ts";

/** Replaces characters that would move or hide other text, or that nobody sees, with visible signs. */
export function clean(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN_CHARACTERS, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 32) return String.fromCodePoint(0x2400 + code);
    return code === 127 ? "\u2421" : `\u2039U+${code.toString(16).toUpperCase()}\u203a`;
  });
}

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

/** A count with its word. */
export function plural(count: number, word: string): string {
  return `${count.toLocaleString()} ${word}${count === 1 ? "" : "s"}`;
}
