const SVG = "http://www.w3.org/2000/svg";
/** Characters of a text shown at once. */
const SHOWN_CHARS = 20_000;

/** Makes an element. Strings become text nodes: nothing here ever parses markup. */
export function element(name, given = {}) {
  return fill(document.createElement(name), given);
}

export function drawing(name, given = {}) {
  return fill(document.createElementNS(SVG, name), given);
}

function fill(made, { children = [], on = {}, text, ...attributes }) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    made.setAttribute(key, value === true ? "" : String(value));
  }
  for (const [event, run] of Object.entries(on)) made.addEventListener(event, run);
  if (text !== undefined) made.textContent = clean(text);
  made.append(...children);
  return made;
}

export function button(text, { run, ...given }) {
  return element("button", { type: "button", text, ...given, on: { click: run } });
}

// C0 and C1 except tab and line break, line separators, invisible marks and tags, changes of direction.
const SIGNS =
  // deno-lint-ignore no-control-regex
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Replaces characters that would move or hide other text with visible signs. */
export function clean(text) {
  return String(text).replaceAll("\r\n", "\n").replace(SIGNS, (char) => {
    const code = char.codePointAt(0);
    if (code < 32) return String.fromCodePoint(0x2400 + code);
    return code === 127 ? "\u2421" : `\u2039U+${code.toString(16).toUpperCase()}\u203a`;
  });
}

/** Puts a possibly very long text into `node`: its beginning, and a button for more. `show` turns text into nodes. */
export function longText(node, text, { show = (part) => [document.createTextNode(clean(part))] } = {}) {
  const whole = String(text);
  const upTo = (end) => {
    if (whole.length <= end) return node.replaceChildren(...show(whole));
    const left = (whole.length - end).toLocaleString();
    const more = button(`Show more (${left} more characters)`, { class: "more", run: () => upTo(end * 4) });
    node.replaceChildren(...show(whole.slice(0, end)), more);
  };
  upTo(SHOWN_CHARS);
  return node;
}

/** Appends to a text that streams. Only its end is kept: the whole is shown once it is complete. */
export function streamText(node, delta) {
  const last = node.lastChild ?? node.appendChild(document.createTextNode(""));
  last.appendData(clean(delta));
  if (last.length > 2 * SHOWN_CHARS) last.replaceData(0, last.length - SHOWN_CHARS, "… ");
}

/** One line about progress or an error. */
export function say(text, { bad = false } = {}) {
  byId("status").textContent = clean(text);
  byId("status").classList.toggle("bad", bad);
}

export const byId = (id) => document.getElementById(id);

export function seconds(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

export function plural(count, word) {
  return `${count.toLocaleString()} ${word}${count === 1 ? "" : "s"}`;
}
