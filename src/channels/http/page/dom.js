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

// Invisible characters that belong to what they stand next to: joiners between two emoji, variants of an emoji, a key or
// a Han character.
const PARTS = [
  String.raw`(?<=[\p{ExtPict}\p{EMod}]\ufe0f?)\u200d(?=\p{ExtPict})`,
  String.raw`(?<=\p{ExtPict})[\ufe0e\ufe0f]`,
  String.raw`(?<=[0-9#*])\ufe0f(?=\u20e3)`,
  String.raw`(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
].join("|");

// Control characters except tab and line break, line separators, and all that is drawn as nothing or turns the direction
// of text.
const SIGNS = new RegExp(String.raw`[^\P{Cc}\t\n]|[\u2028\u2029\ufff9-\ufffb]|(?!${PARTS})\p{DI}`, "gu");

/** Replaces characters that would move or hide other text, or that nobody sees, with visible signs. */
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
