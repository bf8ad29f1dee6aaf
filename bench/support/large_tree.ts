import { join } from "node:path";

const FOLDERS = 100, FILES = 80;
const BYTES = 25_000;
const WORDS = "let const return value items index state await async import from function class while until order".split(
  " ",
);

export async function largeTree(root: string): Promise<void> {
  for (let folder = 0; folder < FOLDERS; folder++) {
    const path = join(root, `part${folder % 10}`, `folder${folder}`);
    await Deno.mkdir(path, { recursive: true });
    for (let file = 0; file < FILES; file++) {
      await Deno.writeTextFile(join(path, `file${file}.ts`), source(folder * FILES + file));
    }
  }
}

function source(seed: number): string {
  const lines: string[] = seed % 100 === 0 ? ["const needle_in_it = true;"] : [];
  let length = 0;
  for (let at = seed; length < BYTES; at++) {
    const word = (by: number): string => WORDS[(at * by + seed) % WORDS.length] ?? "";
    const line = `  ${word(7)} ${word(3)}_${at % 997} = ${word(5)}(${word(11)}, "${word(13)} ${at}");`;
    lines.push(line);
    length += line.length + 1;
  }
  return `${lines.join("\n")}\n`;
}
