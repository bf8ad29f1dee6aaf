/** The calls of these blocks are hostile in size or shape. Each block ends with a text. Its content does not matter, as
 * long as the process answers. `big.txt` has 1 MB. */
export const HOSTILE_BLOCKS: readonly (readonly [name: string, code: string])[] = [
  ["a list of millions of wrong items", "String(await fs.readFiles(new Array(4e6).fill(1)).catch(e => e.message))"],
  [
    "a list of wrong items below the limit of values",
    "String(await fs.readFiles(new Array(190_000).fill(1)).catch(e => e.message))",
  ],
  ["empty objects", "String(await fs.edit(Array.from({length: 4e5}, () => ({}))).catch(e => e.message))"],
  [
    "empty objects below the limit",
    "String(await fs.edit(Array.from({length: 9e4}, () => ({}))).catch(e => e.message))",
  ],
  [
    "unknown keys",
    'String(await fs.edit("a.txt", Object.fromEntries(Array.from({length: 9e4}, (_, i) => ["k" + i, i]))).catch(e => e.message))',
  ],
  ["patterns", 'String(await fs.glob(Array.from({length: 2e5}, (_, i) => "p" + i + "*")).catch(e => e.message))'],
  [
    "patterns below the limit of values",
    'String(await fs.glob(Array.from({length: 1e5}, (_, i) => "p" + i + "*")).catch(e => e.message))',
  ],
  [
    "an edit that multiplies",
    'await fs.writeFile("a.txt", "a".repeat(420)); String(await fs.edit("a.txt", {old: "a", new: "x".repeat(1e6), all: true}).catch(e => e.message))',
  ],
  [
    "line ends",
    'const w = await fs.writeFile("lines.txt", "\\n".repeat(15e6)).catch(e => e.message); String(w.diff ?? w).slice(0, 200)',
  ],
  [
    "many large reads at once",
    'const all = await Promise.all(Array.from({length: 24}, () => fs.readFiles(new Array(60).fill(0).map((_, i) => "./".repeat(i) + "big.txt")).then(r => r.length, e => e.message))); String(all.length)',
  ],
  [
    "many large texts at once",
    'const sent = await Promise.all(Array.from({length: 24}, (_, i) => fs.writeFile("w" + i % 4, "x".repeat(12e6)).then(r => r.bytes, e => e.message))); String(sent.length)',
  ],
  [
    "outputs of programs at once",
    `const ran = typeof shell === "undefined" ? [] : await Promise.all(Array.from({length: 12}, () => shell.run("head -c 33000000 /dev/zero | tr '\\\\0' x", {maxBytes: 32 << 20}).then(r => r.stdout.length, e => e.message))); String(ran)`,
  ],
];
