const NAMES = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad";
const OPEN = new RegExp(`[<\\[◁](?:${NAMES})[>\\]▷]`, "i");
const CLOSE = new RegExp(`[<\\[◁]/(?:${NAMES})[>\\]▷]`, "i");
const MAX_PARTS = 20;

/** Removes the parts that a model marks as thinking from a reply, but only before its first brace: the same tag inside
 * the reply object is text. An opening tag without an end extends to the last start of an object. */
export function takeThinking(text: string): { readonly thinking: string; readonly body: string } {
  const parts: string[] = [];
  let body = text;
  for (let i = 0; i < MAX_PARTS; i++) {
    const found = nextPart(body);
    if (found === null) break;
    parts.push(found.thinking.trim());
    body = found.body;
  }
  return { thinking: parts.filter((part) => part !== "").join("\n"), body };
}

function nextPart(body: string): { readonly thinking: string; readonly body: string } | null {
  const open = OPEN.exec(body);
  const brace = body.search(/[{]/);
  if (open !== null && (brace === -1 || open.index < brace)) {
    const inner = body.slice(open.index + open[0].length);
    const close = CLOSE.exec(inner);
    const before = body.slice(0, open.index);
    if (close) {
      return { thinking: inner.slice(0, close.index), body: before + inner.slice(close.index + close[0].length) };
    }
    // A draft may come first; the final version comes last.
    const end = [...inner.matchAll(/\{\s*"(?:thinking|code|final)"\s*:/g)].at(-1)?.index ?? inner.length;
    return { thinking: inner.slice(0, end), body: before + inner.slice(end) };
  }
  return endWithoutStart(body);
}

/** Some templates open the thinking themselves, so that only its end is received. */
function endWithoutStart(body: string): { readonly thinking: string; readonly body: string } | null {
  const close = CLOSE.exec(body);
  if (close === null || /^\s*(?:```\w*\s*)?[{[]\s*["'{[]/.test(body)) return null;
  return { thinking: body.slice(0, close.index), body: body.slice(close.index + close[0].length) };
}
