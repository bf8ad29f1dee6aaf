import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { codeSpans, diffSpans } from "../../markdown/code_spans.ts";

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

/** A unified diff with its lines in colours. Of variables, a line that begins with ~ has changed. */
export function ShownDiff({ label, text }: { readonly label: string; readonly text: string }): JSX.Element {
  return <Pre class="diff" label={label} text={text.trimEnd()} show={lines} />;
}

function lines(text: string): ComponentChildren {
  return diffSpans(text).map(({ kind, text }) => (
    <span class={`d-${text.startsWith("~") ? "changed" : kind}`}>{text}</span>
  ));
}

/** Longer code is shown without colours. */
const COLOURED_CHARS = 20_000;

/** Code with syntax colours. */
export function coloured(code: string, language = "ts"): ComponentChildren {
  if (code.length > COLOURED_CHARS) return code;
  return codeSpans(code, language).map(({ kind, text }) =>
    kind === "plain" ? text : <span class={`t-${kind}`}>{text}</span>
  );
}

/** Characters of a text shown at once. */
const SHOWN_CHARS = 20_000;

/** The end of a text that still grows: the whole is shown once it is complete. */
export function endOfText(text: string): string {
  return text.length > 2 * SHOWN_CHARS ? `… ${text.slice(-SHOWN_CHARS)}` : text;
}
