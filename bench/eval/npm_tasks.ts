import { builtinModules } from "node:module";
import { join } from "node:path";
import { fetchPackage } from "../../src/app/extensions/extension_admin.ts";
import type { EnvironmentVariables } from "../../src/app/settings/settings.ts";
import { type AgentTask, type Files, task } from "./agent_task.ts";
import { writeFiles } from "./play_task.ts";
import { seeded } from "./seeded.ts";

/* Each task is an npm package, which this module downloads. One line of its sources has a fault that depends on the
 * seed. The package's own tests, which the agent does not see, decide. */

const TEST = /^(?:(?:test|tests|spec)\/(?!fixtures?\/).*|test)\.[cm]?js$/;
const SOURCE = /^(?!(?:dist|build|examples?|bench|benchmarks?|node_modules)\/).*(?<!\.min)\.[cm]?js$/;
const MAX_FILE_CHARS = 200_000;
const TEST_MS = 60_000;
const MAX_TRIED = 60;

const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/===/g, "!=="],
  [/!==/g, "==="],
  [/ < /g, " <= "],
  [/ > /g, " >= "],
  [/ && /g, " || "],
  [/ \|\| /g, " && "],
  [/ \+ 1\b/g, " - 1"],
  [/ - 1\b/g, " + 1"],
  [/\breturn true\b/g, "return false"],
  [/\breturn false\b/g, "return true"],
];

export interface NpmTasks extends AsyncDisposable {
  readonly tasks: readonly AgentTask[];
}

export async function npmTasks(
  refs: readonly string[],
  { seed, env }: { readonly seed: number; readonly env: EnvironmentVariables },
): Promise<NpmTasks> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-eval-npm-" }));
  const close = () => Deno.remove(folder, { recursive: true });
  try {
    const tasks: AgentTask[] = [];
    for (const [at, ref] of refs.entries()) {
      tasks.push(await npmTask(ref, { seed, env, folder: join(folder, `${at}`) }));
    }
    return { tasks, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function npmTask(
  ref: string,
  { seed, env, folder }: { readonly seed: number; readonly env: EnvironmentVariables; readonly folder: string },
): Promise<AgentTask> {
  const files = textsOf(await fetchPackage(`npm:${ref}`, env));
  const tests = Object.keys(files).filter((path) => TEST.test(path));
  if (tests.length === 0) throw new Error(`Cannot make a task of ${ref}: it comes without tests`);
  await Deno.mkdir(folder);
  const hidden = await HiddenPackageTests.of(files, { tests, folder, env });
  const fault = await plant(files, { hidden, seed });
  if (fault === null) throw new Error(`Cannot make a task of ${ref}: its tests find none of ${MAX_TRIED} faults`);
  const { path, text, said } = fault;
  const isTest = (name: string): boolean => /^(?:test|tests|spec)\//.test(name) || tests.includes(name);
  const seen = Object.fromEntries(Object.entries(files).filter(([name]) => !isTest(name)));
  return task(`npm/${ref.replace(/@[^@]*$/, "")}`, () => ({
    files: { ...seen, [path]: text },
    request:
      "A test of this package fails, which is not in this folder. One line of the sources has a fault: find it " +
      `and fix it there. The test says:\n\n${said}`,
    expects: {
      right: { answer: "Done.", files: { [path]: files[path] ?? "" } },
      check: async ({ workspace }) => await hidden.verdict(workspace),
    },
    wrong: ["Done."],
    script: [
      `const source = await fs.readFile(${JSON.stringify(path)}); source.length`,
      `await fs.writeFile(${JSON.stringify(path)}, ${JSON.stringify(files[path])}); await answer("Done.")`,
    ],
  }));
}

function textsOf(files: ReadonlyMap<string, Uint8Array>): Files {
  const decoder = new TextDecoder();
  return Object.fromEntries(
    [...files].map(([path, bytes]) => [path, decoder.decode(bytes)] as const)
      .filter(([, text]) => text.length <= MAX_FILE_CHARS && !text.includes("\ufffd")),
  );
}

interface Fault {
  readonly path: string;
  readonly text: string;
  readonly said: string;
}

async function plant(
  files: Files,
  { hidden, seed }: { readonly hidden: HiddenPackageTests; readonly seed: number },
): Promise<Fault | null> {
  const sources = Object.keys(files).filter((path) => SOURCE.test(path) && !TEST.test(path)).sort();
  const faults = sources.flatMap((path) => faultsIn(files[path] ?? "").map((text) => ({ path, text })));
  for (const { path, text } of seeded(seed).shuffle(faults).slice(0, MAX_TRIED)) {
    const said = await hidden.failure({ ...files, [path]: text });
    if (said !== "") return { path, text, said };
  }
  return null;
}

function faultsIn(text: string): readonly string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    if (/^\s*(?:\/\/|\*|\/\*|#!)/.test(line)) return [];
    return FAULTS.flatMap(([found, wrong]) =>
      [...line.matchAll(found)].map(({ index, 0: { length } }) => {
        const faulty = line.slice(0, index) + wrong + line.slice(index + length);
        return [...lines.slice(0, at), faulty, ...lines.slice(at + 1)].join("\n");
      })
    );
  });
}

/** Only tests that pass without the fault count. The tests run in a copy beside their npm packages, without network. */
class HiddenPackageTests {
  readonly #files: Files;
  readonly #folder: string;
  #tests: readonly string[];

  constructor(files: Files, { tests, folder }: { readonly tests: readonly string[]; readonly folder: string }) {
    this.#files = files;
    this.#tests = tests;
    this.#folder = folder;
  }

  static async of(
    files: Files,
    { tests, folder, env }: {
      readonly tests: readonly string[];
      readonly folder: string;
      readonly env: EnvironmentVariables;
    },
  ): Promise<HiddenPackageTests> {
    await install(neededBy(files), { folder, env });
    const all = new HiddenPackageTests(files, { tests, folder });
    const passing: string[] = [];
    for (const test of tests) if (await all.#run(files, [test]) === "") passing.push(test);
    if (passing.length === 0) throw new Error(`Cannot use the tests: all ${tests.length} fail without a fault`);
    all.#tests = passing;
    return all;
  }

  async failure(files: Files): Promise<string> {
    return await this.#run(files, this.#tests);
  }

  async verdict(workspace: string): Promise<string> {
    const found: Record<string, string> = {};
    for (const path of Object.keys(this.#files)) {
      found[path] = await Deno.readTextFile(join(workspace, path)).catch(() => this.#files[path] ?? "");
    }
    const tests = Object.entries(this.#files).filter(([path]) => /^(?:test|tests|spec)[/.]/.test(path));
    const said = await this.#run({ ...found, ...Object.fromEntries(tests) }, this.#tests);
    return said === "" ? "" : `hidden test: ${said.split("\n")[0]}`;
  }

  async #run(files: Files, tests: readonly string[]): Promise<string> {
    const copy = await Deno.makeTempDir({ dir: this.#folder, prefix: "run-" });
    try {
      // Without a type, the files of a package are CommonJS modules.
      const facts = JSON.parse(files["package.json"] ?? "{}");
      await writeFiles(copy, { ...files, "package.json": JSON.stringify({ type: "commonjs", ...facts }) });
      await Deno.symlink(join(this.#folder, "node_modules"), join(copy, "node_modules"));
      for (const test of tests) {
        const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
          args: ["run", "--quiet", "--no-prompt", "--no-remote", "--node-modules-dir=manual", "--allow-env"]
            .concat(`--allow-read=${this.#folder}`, test),
          ...{ cwd: copy, clearEnv: true, env: { HOME: this.#folder, NO_COLOR: "1" } },
          ...{ stdin: "null", stdout: "piped", stderr: "piped", signal: AbortSignal.timeout(TEST_MS) },
        }).output();
        if (!success) return `${test}\n${failureIn([stderr, stdout].map((bytes) => new TextDecoder().decode(bytes)))}`;
      }
      return "";
    } finally {
      await Deno.remove(copy, { recursive: true });
    }
  }
}

const SHOWN_LINES = 15;

function failureIn(outputs: readonly string[]): string {
  for (const output of outputs) {
    const lines = output.split("\n");
    const at = lines.findIndex((line) => /^not ok\b|\w*Error\b/.test(line));
    if (at >= 0) return lines.slice(at, at + SHOWN_LINES).filter((line) => !line.includes("file://")).join("\n").trim();
  }
  return "It ends without success";
}

function neededBy(files: Files): Readonly<Record<string, string>> {
  const { name = "", dependencies = {}, devDependencies = {} } = JSON.parse(files["package.json"] ?? "{}");
  const asked: Readonly<Record<string, string>> = { ...devDependencies, ...dependencies };
  const texts = Object.entries(files).filter(([path]) => TEST.test(path) || SOURCE.test(path)).map(([, text]) => text);
  const named = texts.flatMap((text) =>
    [...text.matchAll(/\b(?:require\(|from\s|import\s|import\()\s*["']((?:@[\w.-]+\/)?[\w.-]+)/g)].map(([, one = ""]) =>
      one
    )
  );
  const missing = [...new Set(named)].filter((one) =>
    one !== name && !one.startsWith(".") && !one.startsWith("node:") && !builtinModules.includes(one)
  );
  return Object.fromEntries(missing.map((one) => [one, asked[one] ?? "latest"]));
}

/** Even without dependencies, the folder `node_modules` must exist. */
async function install(
  needed: Readonly<Record<string, string>>,
  { folder, env }: { readonly folder: string; readonly env: EnvironmentVariables },
): Promise<void> {
  await Deno.mkdir(join(folder, "node_modules"));
  if (Object.keys(needed).length === 0) return;
  await Deno.writeTextFile(join(folder, "package.json"), JSON.stringify({ dependencies: needed }));
  const registry = env["npm_config_registry"];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet", "--node-modules-dir=auto"],
    cwd: folder,
    env: registry === undefined ? {} : { NPM_CONFIG_REGISTRY: registry },
    ...{ stdin: "null", stdout: "null", stderr: "piped" },
  }).output();
  if (success) return;
  throw new Error(`Cannot install ${Object.keys(needed).join(", ")}: ${new TextDecoder().decode(stderr).slice(-300)}`);
}
