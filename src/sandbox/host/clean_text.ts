// C0 without \t and \n, DEL, C1, and the marks that turn the direction of text around.
// deno-lint-ignore no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Text of a child without the characters that command a terminal; each shows as its escape, so that none is lost. */
export function cleanText(text: string): string {
  return text.replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
