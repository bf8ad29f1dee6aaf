/** `deno task attacks --arm64` tries the walls on machines for arm64, and writes this part of docs/generated/attacks.md.
 * VIS_ARM64_MACHINE names a program that starts a machine. The script calls this program as
 *
 *     PROGRAM --kernel 6.12 --memory 3072 --seconds 7200 --with "bash perl …" FOLDER COMMAND
 *
 * PROGRAM starts a machine with this kernel, a shell, this version of Deno, and these packages of Debian. The machine
 * has a copy of FOLDER at /work, and runs COMMAND as root. PROGRAM returns the output and the exit code of COMMAND.
 *
 * `--only=6.1/nobody` runs one of four machines, and `--only=6.1/nobody/commands` one part on this machine. The page
 * keeps the earlier results of other machines. */
import { cp, mkdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { groupsOf, type MachineRun, PART, withMachines } from "../tests/sandbox/attacks/machines.ts";
import { bundleAll } from "./bundle.ts";
import { ROOT } from "./_project.ts";

/** These kernels have Landlock ABI 6 and 2. */
const KERNELS = ["6.12", "6.1"];
const USERS = new Map([["root", 0], ["nobody", 65534]]);
const PACKAGES = "bash dash git libc-bin perl util-linux procps coreutils findutils";
const MEMORY_MIB = 3072, SECONDS = 7200;
/** A child may need half a minute to start on a busy host. */
const START_MS = 300_000;
const MAIN = "tests/sandbox/attacks/main.ts";
const WALL_TESTS = [
  "tests/sandbox/confine/kernel_wall_test.ts",
  "tests/sandbox/grants_alone_test.ts",
  "tests/sandbox/exec/plan_test.ts",
  "tests/processes/private_mounts_test.ts",
  "tests/processes/private_network_test.ts",
];
const COMMAND_ATTACKS = "tests/processes/attacks_in_emulator.ts";
const FLAGS = "--allow-all --no-check --no-lock --cached-only";
const TEST = `deno test ${FLAGS} --reporter=tap`;
interface Part {
  readonly name: string;
  readonly title: string;
  readonly command: string;
}

const PARTS: readonly Part[] = [
  { name: "commands", title: "attacks of commands", command: `${TEST} ${COMMAND_ATTACKS}` },
  { name: "tests", title: "tests of the walls", command: `${TEST} ${WALL_TESTS.join(" ")}` },
  { name: "sandbox", title: "walls of the sandbox", command: `deno run ${FLAGS} ${MAIN}` },
];
/** `tests/helpers/sandbox.ts` compares the bundles with the sources, so the machine needs both. */
const FOLDERS = ["src", "build/sandbox", "build/page"];

const GRAPH = z.object({
  modules: z.array(
    z.object({ specifier: z.string(), local: z.string().optional(), npmPackage: z.string().optional() }),
  ),
  npmPackages: z.record(
    z.string(),
    z.object({ name: z.string(), version: z.string(), dependencies: z.array(z.string()), localPath: z.string() }),
  ),
});
type Graph = z.infer<typeof GRAPH>;
type Package = Graph["npmPackages"][string];

export async function attacksOnArm64(page: string, args: readonly string[]): Promise<boolean> {
  const only = args.find((arg) => arg.startsWith("--only="))?.slice("--only=".length);
  const [onlyKernel, onlyUser, onlyPart] = only?.split("/") ?? [];
  const wanted = KERNELS.flatMap((kernel) => [...USERS.keys()].map((user) => ({ kernel, user })))
    .filter(({ kernel, user }) => only === undefined || kernel === onlyKernel && user === onlyUser);
  const parts = PARTS.filter(({ name }) => onlyPart === undefined || name === onlyPart);
  if (wanted.length === 0 || parts.length === 0) {
    throw new Error(
      `Cannot start ${only}: it does not name a kernel and a user; write one such as 6.1/nobody/commands`,
    );
  }
  const program = Deno.env.get("VIS_ARM64_MACHINE");
  if (!program) {
    throw new Error(
      "Cannot start a machine for arm64: VIS_ARM64_MACHINE names no program; see scripts/attacks_arm64.ts",
    );
  }
  const folder = await Deno.makeTempDir({ prefix: "vis-arm64-" });
  await Deno.chmod(folder, 0o755);
  try {
    await pack(folder);
    const runs: MachineRun[] = [];
    for (const one of wanted) {
      runs.push(await runOn({ program, folder, parts, ...one }));
      const text = withMachines(await Deno.readTextFile(page), runs, { keepOthers: only !== undefined });
      await Deno.writeTextFile(page, text);
    }
    return runs.every(({ groups }) => [...groups.values()].every(({ failed }) => failed.length === 0));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function runOn(
  { program, folder, parts, kernel, user }: {
    readonly program: string;
    readonly folder: string;
    readonly parts: readonly Part[];
    readonly kernel: string;
    readonly user: string;
  },
): Promise<MachineRun> {
  const commands = [
    "touch build/sandbox/.stamp", // The copies of the sources are newer than the bundles.
    "uname -srm",
    `export VIS_TEST_START_MS=${START_MS}`,
    ...parts.flatMap(({ title, command }) => [`echo '${PART}${title}'`, `${asUser(user)} ${command} 2>&1`]),
  ];
  const begun = performance.now();
  const { stdout, stderr, code } = await new Deno.Command(program, {
    args: [
      ...["--kernel", kernel, "--memory", String(MEMORY_MIB), "--seconds", String(SECONDS), "--with", PACKAGES],
      folder,
      commands.join("\n"),
    ],
    stdin: "null",
  }).output();
  const output = new TextDecoder().decode(stdout);
  const log = join(ROOT, `dist/attacks-arm64-${kernel}-${user}.log`);
  await mkdir(dirname(log), { recursive: true });
  await Deno.writeTextFile(log, output);
  console.log(`Linux ${kernel}, ${user}: ${((performance.now() - begun) / 1000).toFixed(0)} s, ${log}`);
  const system = /^Linux \S+ \S+$/m.exec(output)?.[0];
  if (system === undefined) {
    throw new Error(
      `Cannot run on Linux ${kernel} for arm64: the machine ended with exit code ${code}: ` +
        `${new TextDecoder().decode(stderr)}`,
    );
  }
  const left = parts.filter(({ title }) => !output.includes(`${PART}${title}\n`));
  if (left.length > 0) throw new Error(`Cannot try ${left.map(({ title }) => title).join(", ")}: the machine ended`);
  return { system, user, groups: groupsOf(output) };
}

function asUser(user: string): string {
  const id = USERS.get(user);
  if (id === 0) return "";
  return `setpriv --reuid=${id} --regid=${id} --clear-groups env HOME=/tmp/${user} DENO_DIR=/tmp/${user}/deno`;
}

async function pack(folder: string): Promise<void> {
  await bundleAll();
  const files = new Set<string>();
  const packages = new Map<string, Package>(), direct = new Map<string, string>();
  for (const entry of [MAIN, ...WALL_TESTS, COMMAND_ATTACKS]) {
    const graph = await graphOf(entry);
    for (const { specifier, npmPackage } of graph.modules) {
      if (specifier.startsWith("file:")) files.add(relative(ROOT, fileURLToPath(specifier)));
      const used = npmPackage === undefined ? undefined : graph.npmPackages[npmPackage];
      if (!npmPackage || !used) continue;
      direct.set(used.name, used.version);
      addPackage(npmPackage, graph, packages);
    }
  }
  for (const path of [...FOLDERS, ...files]) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(ROOT, path), join(folder, path), { recursive: true });
  }
  for (const { name, localPath } of packages.values()) {
    await cp(localPath, join(folder, "node_modules", name), { recursive: true });
  }
  await Deno.writeTextFile(join(folder, "package.json"), JSON.stringify({ dependencies: Object.fromEntries(direct) }));
  await Deno.writeTextFile(join(folder, "deno.json"), JSON.stringify(await configuration(new Set(direct.keys()))));
}

async function graphOf(entry: string): Promise<Graph> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", entry],
    cwd: ROOT,
    stderr: "null",
  }).output();
  return GRAPH.parse(JSON.parse(new TextDecoder().decode(stdout)));
}

function addPackage(id: string, { npmPackages }: Graph, into: Map<string, Package>): void {
  const found = npmPackages[id];
  if (!found) throw new Error(`Cannot pack ${id}: it is not in the graph`);
  const known = into.get(found.name);
  if (known && known.version !== found.version) {
    throw new Error(`Cannot pack ${found.name}: the graph needs both ${known.version} and ${found.version}`);
  }
  if (known) return;
  into.set(found.name, found);
  for (const needed of found.dependencies) addPackage(needed, { modules: [], npmPackages }, into);
}

async function configuration(packages: ReadonlySet<string>): Promise<Record<string, unknown>> {
  const { imports, compilerOptions, unstable } = z.object({
    imports: z.record(z.string(), z.string()),
    compilerOptions: z.unknown(),
    unstable: z.unknown(),
  }).parse(JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json"))));
  const isThere = (target: string): boolean => {
    const name = /^npm:\/?((?:@[^/]+\/)?[^@/]+)/.exec(target)?.[1];
    return name === undefined || packages.has(name);
  };
  return {
    imports: Object.fromEntries(Object.entries(imports).filter(([, target]) => isThere(target))),
    nodeModulesDir: "manual",
    compilerOptions,
    unstable,
  };
}
