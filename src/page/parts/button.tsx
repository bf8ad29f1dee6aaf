import type { ButtonHTMLAttributes, ComponentChildren, JSX } from "preact";

interface ButtonProps extends Omit<ButtonHTMLAttributes, "onClick" | "label"> {
  readonly run: () => unknown;
  readonly children: ComponentChildren;
}

/** A button that is no part of a form. */
export function Button({ run, children, ...given }: ButtonProps): JSX.Element {
  return <button type="button" {...given} onClick={() => void run()}>{children}</button>;
}
