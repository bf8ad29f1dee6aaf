/** The same text is a block and a module of plain `deno run`, and ends with its value. */
export const COMPUTE_WORK: Readonly<Record<string, string>> = {
  "a loop in a function":
    "function work(m) { let s = 0; for (let i = 0; i < m; i++) s = (s + i * 3) | 0; return s }\nwork(1e8)",
  "recursion": "function fib(k) { return k < 2 ? k : fib(k - 1) + fib(k - 2) }\nfib(33)",
  "closures": "const add = (a) => (b) => a + b; let acc = 0; for (let i = 0; i < 1e7; i++) acc = add(i)(acc) | 0\nacc",
  "objects and maps":
    "const map = new Map(); for (let i = 0; i < 1e6; i++) map.set('k' + (i % 5000), { i, s: 'x' + i });\n" +
    "[...map.values()].map((v) => v.i).reduce((a, b) => a + b, 0)",
  "strings and sorting":
    "const words = Array.from({ length: 2e5 }, (_, i) => 'w' + ((i * 7919) % 300007)); words.sort();\n" +
    "words.join(',').split(',').length",
};

/** Variables outside of a function are properties of the global object, where each store of a double makes a new number
 * object. */
export const WORST_CASES: Readonly<Record<string, string>> = {
  "a loop at the top level": "let sum = 0; for (let i = 0; i < 5e7; i++) { sum = (sum + i * 3) | 0 }\nsum",
  "a double in a variable of the top level":
    "const xs = new Float64Array(2e6); for (let i = 0; i < xs.length; i++) xs[i] = i ^ 7\n" +
    "let best = 0; const show = () => best\n" +
    "for (let r = 0; r < 5; r++) for (let i = 0; i < xs.length; i++) best = best + xs[i]\nshow()",
  "a loop at the top level of a block of 256 KB": `function f() {}\n${"f(123, 'text');\n".repeat(16_000)}` +
    "let sum = 0; for (let i = 0; i < 5e6; i++) { sum = (sum + i * 3) | 0 }\nsum",
};

export async function plainMs(code: string): Promise<number> {
  const file = await Deno.makeTempFile({ suffix: ".mjs" });
  try {
    const module = code.replace(/\n([^\n]*)$/, "\nglobalThis.result = ($1)");
    await Deno.writeTextFile(file, `const begun = performance.now();${module};console.log(performance.now() - begun)`);
    const args = ["run", "--quiet", "--no-config", file];
    const { stdout } = await new Deno.Command(Deno.execPath(), { args, stdin: "null", stderr: "null" }).output();
    return Number(new TextDecoder().decode(stdout).trim());
  } finally {
    await Deno.remove(file);
  }
}
