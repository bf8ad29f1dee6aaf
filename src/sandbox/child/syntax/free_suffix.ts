const JOINER = "\u200d";

/** A suffix that ends no name in the text, however the name is written: `x\u200d` with an escape is a name too. */
export function freeSuffix(text: string): string {
  const plain = text.includes("\\u") ? text.replace(/\\u(?:200d|\{0*200d\})/gi, JOINER) : text;
  let longest = 0;
  for (const [run] of plain.matchAll(/\u200d+/g)) longest = Math.max(longest, run.length);
  return JOINER.repeat(longest + 1);
}
