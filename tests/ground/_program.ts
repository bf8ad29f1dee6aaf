import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import project from "../../deno.json" with { type: "json" };
import type { Ran } from "./_checkout.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const MAIN = `import { failing } from "./src/domain/failing.ts";

let generated = "allowed";
try {
  new Function("return 1")();
} catch {
  generated = "refused";
}
const globals = [typeof process, typeof Buffer, typeof setTimeout(() => {}, 0)].join();
const input = await new Response(Deno.stdin.readable).text();
let stack = "";
try {
  ({ failing }).failing();
} catch (error) {
  stack = error.stack;
}
console.log(JSON.stringify({ args: Deno.args, generated, globals, input, main: import.meta.main, stack }));
`;
const CHILD = `export function childMain(): Promise<void> {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  return new Promise((resolve) => {
    worker.onmessage = ({ data }) => {
      console.log(data);
      worker.terminate();
      resolve();
    };
  });
}
`;
const FILES: Readonly<Record<string, string>> = {
  "scripts/_code_cache_main.ts": `for (const name of ["blocks", "compiler", "sucrase"]) {
  Deno.writeTextFileSync(\`\${Deno.args[0]}/\${name}.cache\`, "");
}
`,
  "scripts/executable/print_version.ts": "console.log(1);\n",
  "deno.json": JSON.stringify({
    imports: { acorn: project.imports.acorn },
    unstable: ["worker-options"],
    test: { include: ["tests"] },
  }),
  "deno.lock": '{ "version": "5" }\n',
  "extensions/fs/search/search_worker.ts": "export const search = 1;\n",
  "main.ts": MAIN,
  "src/page/app.tsx": "export const page = 1;\n",
  "src/domain/failing.ts": `/** Fails.\n */\nexport function failing() {\n  // why\n\n  throw new Error("shown");\n}\n`,
  "src/domain/one.ts": "export const one = 1;\n",
  "src/markdown/tree.ts": "export const tree = 1;\n",
  "src/sandbox/child/main.ts": CHILD,
  "src/sandbox/child/blocks/blocks_script.ts": "export const blocks = 1;\n",
  "src/sandbox/child/worker.ts": `import { word } from "./word.ts";\nself.postMessage(word);\n`,
  "src/sandbox/child/compiler/compiler_script.ts": "export const compiler = 1;\n",
  "src/sandbox/child/compiler/sucrase.ts": "export const transform = 1;\n",
  "src/sandbox/launch.ts": 'export const CHILD_V8_FLAGS = ["--no-compilation-cache"];\n' +
    `export const CHILD_ARGUMENT = "__sandbox_child", FOLDER_PREFIX = "";\n` +
    "export const startChild = (): void => {}, keepFirstChild = startChild, endFirstChild = startChild;\n",
  "src/sandbox/child/word.ts": 'export const word: string = "first";\n',
};

async function denoDir(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"], cwd: ROOT }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

/** A small program in the layout of this repository, with its scripts, run by this Deno and with its cache. */
export class Program implements AsyncDisposable {
  readonly #env: Readonly<Record<string, string>>;
  constructor(readonly root: string, env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  static async make(): Promise<Program> {
    const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis program-" }));
    const path = `${dirname(Deno.execPath())}:/usr/bin:/bin`;
    const program = new Program(root, { PATH: path, HOME: root, DENO_DIR: await denoDir(), NO_COLOR: "1" });
    for (const folder of ["bin", "scripts", "scripts/executable", "scripts/testing"]) {
      for await (const { name, isFile } of Deno.readDir(join(ROOT, folder))) {
        if (!isFile) continue;
        await program.write(`${folder}/${name}`, await Deno.readTextFile(join(ROOT, folder, name)));
      }
    }
    for (const [file, text] of Object.entries(FILES)) await program.write(file, text);
    return program;
  }

  async write(file: string, text: string): Promise<void> {
    await Deno.mkdir(dirname(join(this.root, file)), { recursive: true });
    await Deno.writeTextFile(join(this.root, file), text, { mode: file.startsWith("bin/") ? 0o755 : 0o644 });
  }

  async run(
    command: string,
    options: { args?: readonly string[]; input?: string; cwd?: string; env?: Record<string, string> } = {},
  ): Promise<Ran> {
    const child = new Deno.Command(command.startsWith("/") ? command : join(this.root, command), {
      args: [...options.args ?? []],
      cwd: options.cwd ?? this.root,
      clearEnv: true,
      env: { ...this.#env, ...options.env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(options.input ?? ""));
    await writer.close();
    const { code, stdout, stderr } = await child.output();
    const text = new TextDecoder();
    return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
  }
}
