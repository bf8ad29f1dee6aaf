import type { ComponentChildren } from "preact";
import { codeSpans } from "../../markdown/code_spans.ts";

/** Longer code is shown without colours. */
const COLOURED_CHARS = 20_000;

/** Code with syntax colours. */
export function coloured(code: string, language = "ts"): ComponentChildren {
  if (code.length > COLOURED_CHARS) return code;
  return codeSpans(code, language).map(({ kind, text }) =>
    kind === "plain" ? text : <span class={`t-${kind}`}>{text}</span>
  );
}
