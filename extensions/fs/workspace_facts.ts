import { type FirstEntries, firstEntries, hasPlaceholderMode, smallTextFile } from "@vis/extension";
import { join } from "node:path";

const MOST_ENTRIES = 1_000;
const SMALL_FOLDER = 64 * 1024;
const MAX_BYTES = 64 * 1024;
const MAX_NAMES = 24, MAX_CHARS = 160;
/** A name with special characters could mislead a model. */
const PLAIN = /^[\p{L}\p{N}_][\p{L}\p{N}_.@+-]{0,39}$/u;
const UNTOLD = new Set(["node_modules", "__pycache__"]);

type Read = (name: string) => Promise<string>;

const PROJECTS:
  readonly (readonly [file: string, kind: string, test: (read: Read, has: Has) => Promise<string> | string])[] = [
    ["package.json", "Node", nodeTest],
    ["deno.json", "Deno", denoTest],
    ["deno.jsonc", "Deno", denoTest],
    ["pyproject.toml", "Python", pythonTest],
    ["setup.py", "Python", pythonTest],
    ["requirements.txt", "Python", pythonTest],
    ["Cargo.toml", "Rust", () => "cargo test"],
    ["go.mod", "Go", () => "go test ./..."],
    ["pom.xml", "Java", () => "mvn test"],
    ["build.gradle", "Gradle", () => "gradle test"],
    ["build.gradle.kts", "Gradle", () => "gradle test"],
    ["mix.exs", "Elixir", () => "mix test"],
    [
      "Gemfile",
      "Ruby",
      (_, has) => has(".rspec") ? "bundle exec rspec" : has("Rakefile") ? "bundle exec rake test" : "",
    ],
    ["composer.json", "PHP", (_, has) => has("phpunit.xml") || has("phpunit.xml.dist") ? "vendor/bin/phpunit" : ""],
    ["CMakeLists.txt", "CMake", () => ""],
    ["Makefile", "Make", async (read) => /^test[ \t]*:(?!=)/m.test(await read("Makefile")) ? "make test" : ""],
  ];
type Has = (name: string) => boolean;

export async function workspaceFacts(workspace: string): Promise<string> {
  const found = await entriesOf(workspace).catch(() => null);
  if (found === null) return "";
  const placeholders = await placeholdersIn(workspace, found);
  const entries = found.entries.filter(({ name }) => !placeholders.has(name));
  if (entries.length === 0) return "cwd is empty.";
  const names = new Map(entries.map((entry) => [entry.name, entry.isDirectory]));
  const has: Has = (name) => names.has(name);
  const read: Read = async (name) =>
    has(name) ? await smallTextFile(join(workspace, name), { most: MAX_BYTES }) ?? "" : "";
  const projects = await Promise.all(
    PROJECTS.filter(([file]) => names.get(file) === false).map(async ([file, kind, test]) => {
      const command = await test(read, has);
      return { text: command === "" ? file : `${file} (${command})`, kind };
    }),
  );
  const kinds = projects.filter(({ kind }, at) => projects.findIndex((one) => one.kind === kind) === at);
  const venv = [".venv", "venv"].find((name) => names.get(name) === true);
  return [
    topOf(names, found.hasMore),
    ...kinds.length === 0 ? [] : [`Project: ${kinds.map(({ text }) => text).join(", ")}.`],
    ...venv === undefined ? [] : [`Python: ${venv}/bin.`],
  ].join(" ");
}

async function entriesOf(folder: string): Promise<FirstEntries> {
  const { size } = await Deno.stat(folder);
  if (size > SMALL_FOLDER) return await firstEntries(folder, { most: MOST_ENTRIES });
  return { entries: await Array.fromAsync(Deno.readDir(folder)), hasMore: false };
}

async function placeholdersIn(workspace: string, { entries }: FirstEntries): Promise<ReadonlySet<string>> {
  const found = await Promise.all(
    entries.filter(({ isDirectory }) => isDirectory).map(async ({ name }) => {
      const path = join(workspace, name);
      const { mode } = await Deno.lstat(path).catch(() => ({ mode: null }));
      if (!hasPlaceholderMode(mode ?? 0)) return [];
      const inside = await firstEntries(path, { most: 1 }).catch(() => null);
      return inside?.entries.length === 0 ? [name] : [];
    }),
  );
  return new Set(found.flat());
}

function topOf(names: ReadonlyMap<string, boolean>, hasMore: boolean): string {
  const told = [...names].filter(([name]) => PLAIN.test(name) && !UNTOLD.has(name))
    .sort(([one, isFolder], [other, isOther]) => Number(isOther) - Number(isFolder) || (one < other ? -1 : 1))
    .map(([name, isFolder]) => isFolder ? `${name}/` : name);
  let chars = 0;
  const shown = told.slice(0, MAX_NAMES).filter((name) => (chars += name.length + 1) <= MAX_CHARS);
  const left = told.length - shown.length;
  const more = hasMore ? " and many more" : left > 0 ? ` and ${left} more` : "";
  return `At the top: ${shown.join(" ") || "names with other signs"}${more}.`;
}

async function nodeTest(read: Read, has: Has): Promise<string> {
  const { test } = scriptsIn(await read("package.json"), "scripts");
  if (typeof test !== "string" || test.includes("no test specified")) return "";
  if (has("pnpm-lock.yaml")) return "pnpm test";
  if (has("yarn.lock")) return "yarn test";
  return has("bun.lock") || has("bun.lockb") ? "bun run test" : "npm test";
}

async function denoTest(read: Read): Promise<string> {
  const text = await read("deno.json") || await read("deno.jsonc");
  return scriptsIn(text, "tasks").test !== undefined || /"test"\s*:/.test(text) ? "deno task test" : "deno test";
}

async function pythonTest(read: Read, has: Has): Promise<string> {
  if (has("tox.ini") && !has("pytest.ini")) return "tox";
  const texts = await Promise.all(["pyproject.toml", "setup.cfg", "requirements.txt", "setup.py"].map(read));
  return has("pytest.ini") || has("conftest.py") || texts.some((text) => /\bpytest\b/.test(text)) ? "pytest" : "";
}

function scriptsIn(text: string, key: string): { readonly test?: unknown } {
  try {
    const scripts: unknown = Reflect.get(Object(JSON.parse(text)), key);
    return typeof scripts === "object" && scripts !== null ? scripts : {};
  } catch {
    return {};
  }
}
