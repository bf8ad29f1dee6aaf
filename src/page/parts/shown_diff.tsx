import type { ComponentChildren, JSX } from "preact";
import { diffSpans } from "../../markdown/diff_spans.ts";
import { Pre } from "./pre.tsx";

/** A unified diff with its lines in colours. Of variables, a line that begins with ~ has changed. */
export function ShownDiff({ label, text }: { readonly label: string; readonly text: string }): JSX.Element {
  return <Pre class="diff" label={label} text={text.trimEnd()} show={lines} />;
}

function lines(text: string): ComponentChildren {
  return diffSpans(text).map(({ kind, text }) => (
    <span class={`d-${text.startsWith("~") ? "changed" : kind}`}>{text}</span>
  ));
}
