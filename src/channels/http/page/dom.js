/** Makes an element. Text becomes text: nothing here ever reads markup. */
export function element(name, { children = [], on = {}, text, ...attributes } = {}) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    made.setAttribute(key, value === true ? "" : String(value));
  }
  for (const [event, run] of Object.entries(on)) made.addEventListener(event, run);
  if (text !== undefined) made.textContent = clean(text);
  made.append(...children);
  return made;
}

/** What would move or hide other text is shown as a sign: control characters and changes of direction. */
export function clean(text) {
  return String(text).replace(
    // deno-lint-ignore no-control-regex
    /[\x00-\x08\x0b-\x1f\x7f]|[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g,
    (char) => {
      const code = char.codePointAt(0);
      if (code === 13) return "";
      if (code < 32) return String.fromCodePoint(0x2400 + code);
      return code === 127 ? "\u2421" : `\u2039U+${code.toString(16).toUpperCase()}\u203a`;
    },
  );
}

export const byId = (id) => document.getElementById(id);
