import type { EnvironmentView } from "@vis/extension";
import { stat } from "node:fs/promises";
import { join } from "node:path";

const MISSING =
  /(?:^|[\s:])([\w.+-]{1,60}): (?:command )?not found\b(?!: \w)|command not found: ([\w.+-]{1,60})|env: [‘'"]?([\w.+-]{1,60})[’'"]?: No such file/m;
const FOLDERS = [".venv/bin", "venv/bin", "env/bin", "node_modules/.bin", "vendor/bin", "bin"];
const SYSTEM = ["/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"];
const OTHERS: Readonly<Record<string, readonly (readonly [program: string, command: string])[]>> = {
  python: [["python3", "python3"]],
  python3: [["python", "python"]],
  pip: [["pip3", "pip3"], ["python3", "python3 -m pip"], ["python", "python -m pip"]],
  pip3: [["pip", "pip"], ["python3", "python3 -m pip"]],
  pytest: [["python3", "python3 -m pytest"], ["python", "python -m pytest"]],
  node: [["nodejs", "nodejs"], ["bun", "bun"], ["deno", "deno"]],
  npm: [["pnpm", "pnpm"], ["yarn", "yarn"], ["bun", "bun"], ["deno", "deno"]],
  npx: [["pnpm", "pnpm exec"], ["yarn", "yarn exec"], ["bunx", "bunx"]],
  rg: [["grep", "grep -rn"]],
  docker: [["podman", "podman"]],
};
/** Python can run these tools as modules, so the module of a missing tool is probably missing too. */
const NEEDS_MODULE = new Set(["pytest", "pip", "pip3"]);

export async function missingProgramHint(
  { workspace }: Pick<EnvironmentView, "workspace">,
  output: string,
): Promise<string | null> {
  const name = MISSING.exec(output)?.slice(1).find((group) => group !== undefined);
  if (name === undefined) return null;
  const others = Object.hasOwn(OTHERS, name) ? OTHERS[name] ?? [] : [];
  const inWorkspace = FOLDERS.flatMap((folder) =>
    [[name, name] as const, ...others].map(([program, command]) => ({ folder, program, command }))
  );
  for (const { folder, program, command } of inWorkspace) {
    if (!await isFile(join(workspace, folder, program))) continue;
    return `${name} is not in PATH: ${folder}/${command} is here`;
  }
  for (const [program, command] of others) {
    const found = await Promise.all(SYSTEM.map((folder) => isFile(join(folder, program))));
    if (!found.includes(true)) continue;
    const module = NEEDS_MODULE.has(name) && command !== program ? `; try ${command}` : `: ${command} is here`;
    return `${name} is not in PATH${module}`;
  }
  return null;
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then((info) => info.isFile(), () => false);
}
