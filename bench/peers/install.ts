import { join } from "node:path";

export const VERSIONS = {
  codex: "0.169.0",
  claude: "2.1.330",
  opencode: "1.18.33",
  pi: "1.5.2",
  node: "24.21.0",
} as const;

export class Installed {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  static async complete(folder: string): Promise<void> {
    const packages: Readonly<Record<string, readonly string[]>> = {
      codex: [`@openai/codex@${VERSIONS.codex}`],
      claude: [`@anthropic-ai/claude-code@${VERSIONS.claude}`],
      opencode: [`opencode-ai@${VERSIONS.opencode}`],
      node: [`node@${VERSIONS.node}`],
    };
    for (const [name, wanted] of Object.entries(packages)) {
      await once(join(folder, name), wanted.join(), (at) => npm(at, ["install", ...wanted]));
    }
    await once(join(folder, "pi"), VERSIONS.pi, installPi);
  }

  path(name: string, ...rest: readonly string[]): string {
    return join(this.#folder, name, "node_modules", ...rest);
  }

  get node(): string {
    return this.path("node", "node", "bin", "node");
  }
}

/** Some dependencies of pi are not in the registry. The bundle of pi needs only these packages. */
async function installPi(at: string): Promise<void> {
  const target = join(at, "node_modules/@earendil-works/pi-coding-agent");
  await npm(at, [
    "install",
    ...["@silvia-odwyer/photon-node@0.3.4", "quickjs-wasi@3.6.2", "undici@8.12.3", "typebox@1.3.27"],
  ]);
  await npm(at, ["pack", `@earendil-works/pi-coding-agent@${VERSIONS.pi}`]);
  await Deno.mkdir(target, { recursive: true });
  await command("tar", ["xzf", `earendil-works-pi-coding-agent-${VERSIONS.pi}.tgz`, "-C", target, "--strip", "1"], at);
}

async function once(at: string, version: string, install: (at: string) => Promise<void>): Promise<void> {
  const mark = join(at, "installed");
  if (await Deno.readTextFile(mark).catch(() => "") === version) return;
  console.error(`Installing ${version}`);
  await Deno.remove(at, { recursive: true }).catch(() => {});
  await Deno.mkdir(at, { recursive: true });
  await Deno.writeTextFile(join(at, "package.json"), "{}");
  await install(at);
  await Deno.writeTextFile(mark, version);
}

async function npm(at: string, args: readonly string[]): Promise<void> {
  await command("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], at);
}

async function command(program: string, args: readonly string[], cwd: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`Cannot install: ${new TextDecoder().decode(stderr).slice(-1500)}`);
}
