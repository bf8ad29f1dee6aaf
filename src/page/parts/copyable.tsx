import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";
import { CopyButton } from "./copy_button.tsx";

interface CopyableProps {
  readonly what: string;
  /** The pre element. */
  readonly children: ComponentChildren;
}

/** Code with a copy button in its corner. */
export function Copyable({ what, children }: CopyableProps): JSX.Element {
  const node = useRef<HTMLDivElement>(null);
  const code = (): string => node.current?.querySelector("pre code")?.textContent ?? "";
  return (
    <div class="copyable" ref={node}>
      {children}
      <CopyButton text={code} class="copy" aria-label={`copy ${what}`} />
    </div>
  );
}
