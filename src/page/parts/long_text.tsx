import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { SHOWN_CHARS } from "./shown_chars.ts";

function plain(part: string): string {
  return part;
}

/** A possibly very long text: its beginning, and a button for more. `show` turns text into elements. */
export function LongText(
  { text, show = plain }: {
    readonly text: string;
    readonly show?: (part: string) => ComponentChildren;
  },
): JSX.Element {
  const [end, grow] = useState(SHOWN_CHARS);
  if (text.length <= end) return <>{show(text)}</>;
  return (
    <>
      {show(text.slice(0, end))}
      <button type="button" class="more" onClick={() => grow(end * 4)}>
        {`Show more (${(text.length - end).toLocaleString()} more characters)`}
      </button>
    </>
  );
}
