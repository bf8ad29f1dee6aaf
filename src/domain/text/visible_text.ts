/** Invisible characters that belong to what they stand next to: joiners between two emoji, variants of an emoji, a key
 * or a Han character. */
const PARTS = [
  String.raw`(?<=[\p{ExtPict}\p{EMod}]\ufe0f?)\u200d(?=\p{ExtPict})`,
  String.raw`(?<=\p{ExtPict})[\ufe0e\ufe0f]`,
  String.raw`(?<=[0-9#*])\ufe0f(?=\u20e3)`,
  String.raw`(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
].join("|");

/** Control characters other than \t and \n, line separators, and everything that is drawn as nothing or turns the
 * direction of text, such as U+200B, U+202E and tags. */
export const HIDDEN_CHARACTERS = new RegExp(
  String.raw`[^\P{Cc}\t\n]|[\u2028\u2029\ufff9-\ufffb]|(?!${PARTS})\p{DI}`,
  "gu",
);

/** Escapes characters of a model's, a server's or a file's text that control a terminal or that nobody sees. Inside
 * JSON, these escapes still mean the same text. */
export function visibleText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN_CHARACTERS, escaped);
}

/** One escape for each UTF-16 unit. */
function escaped(char: string): string {
  return char.length === 1 ? unit(char, 0) : unit(char, 0) + unit(char, 1);
}

function unit(char: string, at: number): string {
  return `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`;
}
