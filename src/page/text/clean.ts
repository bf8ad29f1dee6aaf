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
export function clean(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(SIGNS, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 32) return String.fromCodePoint(0x2400 + code);
    return code === 127 ? "\u2421" : `\u2039U+${code.toString(16).toUpperCase()}\u203a`;
  });
}
