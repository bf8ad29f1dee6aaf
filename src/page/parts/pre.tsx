import type { ComponentChildren, JSX } from "preact";
import { LongText } from "./long_text.tsx";

/** A text as it is, reached by the keyboard, since it may scroll. */
export function Pre({ label, text, show, ...given }: {
  readonly label: string;
  readonly text: string;
  readonly class?: string;
  readonly show?: (part: string) => ComponentChildren;
}): JSX.Element {
  return (
    <pre {...given} tabIndex={0} aria-label={label}>
      <LongText text={text} {...(show === undefined ? {} : { show })} />
    </pre>
  );
}
