import { existsSync } from "node:fs";
import { missingWalls, NO_GRANTS, type RunReport, type Sandbox, type WallName } from "../sandbox.ts";
import { openSandbox } from "./open_sandbox.ts";

export interface WallProbe {
  readonly wall: WallName;
  readonly holds: boolean;
  readonly found: { readonly text: string; readonly fix: string };
}

interface Probe {
  readonly wall: WallName;
  readonly walls: NonNullable<Parameters<typeof openSandbox>[1]>["walls"];
  readonly code: (secret: string, options: { readonly carried: boolean; readonly targets: ProbeTargets }) => string;
  readonly text: (sandbox: Sandbox) => string;
  readonly fix: string;
}

const OFF = { realm: false, permissions: false, limits: false, landlock: false, seccomp: false };

const attempts = (list: Readonly<Record<string, string>>): string =>
  `const through = [];\n${
    Object.entries(list).map(([name, code]) => `try { if (${code}) through.push("${name}") } catch {}`).join("\n")
  }\nthrough`;

/** An attempt on a missing target would count as blocked. */
interface ProbeTargets {
  readonly file: string;
  readonly folder: string;
  readonly program: string;
}

/** Falls back to the running executable, because a container may have no other file. */
export function probeTargets(os: typeof Deno.build.os, exists: (path: string) => boolean = existsSync): ProbeTargets {
  const first = (...paths: readonly string[]): string => [...paths, Deno.execPath()].find(exists) ?? paths[0] ?? "";
  if (os === "windows") {
    const system = "C:\\Windows";
    return {
      file: first(`${system}\\win.ini`),
      folder: `${system}\\Temp`,
      program: first(`${system}\\System32\\whoami.exe`),
    };
  }
  return { file: first("/etc/passwd"), folder: "/tmp", program: first("/bin/true", "/usr/bin/true") };
}

/** A launcher may run the child where the secret does not exist, so the probe also reads a file of the system. */
const FILES = (secret: string, { file, folder }: ProbeTargets): Readonly<Record<string, string>> => ({
  "read a file": `Deno.readTextFileSync(${JSON.stringify(secret)})`,
  "read a file of the system": `Deno.readTextFileSync(${JSON.stringify(file)})`,
  "write a file": `(Deno.writeTextFileSync(${JSON.stringify(`${secret}.new`)}, "x"), true)`,
  "write into the temporary folder": `(Deno.removeSync(Deno.makeTempFileSync({ dir: ${
    JSON.stringify(folder)
  }, prefix: "vis-probe-" })), true)`,
  "open a port": `(Deno.listen({ port: 0, hostname: "127.0.0.1" }).close(), true)`,
});

const PROBES: readonly Probe[] = [
  {
    wall: "realm",
    walls: { ...OFF, realm: true },
    code: () =>
      attempts({
        "reach Deno or Node":
          `[typeof Deno, typeof process, typeof fetch, typeof Worker].some((t) => t !== "undefined")`,
        "make code from text": `(() => {}).constructor("return 1")() === 1`,
      }),
    text: () => "blocks see only ECMAScript and a short list of globals, and cannot create code from text",
    fix: "This is a defect: report it with the output of vis version",
  },
  {
    wall: "permissions",
    walls: { ...OFF, permissions: true },
    code: (secret, { targets }) =>
      attempts({
        ...FILES(secret, targets),
        "start a process": `new Deno.Command(${JSON.stringify(targets.program)}, { args: ["--version"] }).outputSync()`,
      }),
    text: () => "the sandbox process has no Deno permission",
    fix: "This is a defect: report it with the output of vis version",
  },
  {
    wall: "process",
    walls: { ...OFF, limits: true },
    // A launcher sets its own variables and folder, so the probe looks only for variables of Vis and keys.
    code: (_secret, { carried }) =>
      attempts({
        "see the environment": `Object.keys(Deno.env.toObject()).some((key) => ${
          carried ? "/^VIS_|_(API_KEY|TOKEN|SECRET)$/" : "/^(HOME|PATH|USER|VIS_)/"
        }.test(key))`,
        ...carried ? {} : { "see files in its folder": `[...Deno.readDirSync(".")].length > 0` },
        "dump core": `!/Max core file size +0 /.test(Deno.readTextFileSync("/proc/self/limits"))`,
      }),
    text: () =>
      "a separate process with an empty folder, without your environment, and with limits for memory and open files",
    fix: Deno.build.os === "linux"
      ? "This is a defect: report it with the output of vis version"
      : "Limits for memory and open files exist on Linux only; the sandbox process is still separate",
  },
  {
    wall: "kernel",
    // The limits set no_new_privs, without which a process of an ordinary user cannot confine itself.
    walls: { ...OFF, limits: true, landlock: true, seccomp: true },
    code: (secret, { targets }) =>
      attempts({ ...FILES(secret, targets), "look at a file": `Deno.statSync(${JSON.stringify(secret)}).size > 0` }),
    text: ({ walls: { kernel, failed } }) =>
      [
        `Landlock ABI ${kernel.landlock} and a list of allowed system calls`,
        ...failed.filter((it) => /^Landlock/.test(it)),
      ]
        .join("; "),
    fix: "This wall needs Linux 5.13 or later with Landlock, on x86-64 or arm64; the other walls work without it",
  },
];

interface ProbeOptions {
  readonly launcher?: readonly string[];
  readonly signal?: AbortSignal | undefined;
  readonly targets?: ProbeTargets;
  readonly folderRoot?: string;
  readonly startMs?: number;
}

export async function probeWalls(options: ProbeOptions = {}): Promise<readonly WallProbe[]> {
  const { signal, folderRoot } = options;
  signal?.throwIfAborted();
  const folder = Deno.makeTempDirSync({
    prefix: "vis-probe-",
    ...(folderRoot === undefined ? {} : { dir: folderRoot }),
  });
  try {
    const secret = `${folder}/secret`;
    await Deno.writeTextFile(secret, "secret");
    const tried = await Promise.allSettled(PROBES.map((probe) => tryWall(probe, secret, options)));
    signal?.throwIfAborted();
    return tried.map((one) => {
      if (one.status === "rejected") throw one.reason;
      return one.value;
    });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

async function tryWall(
  { wall, walls, code, text, fix }: Probe,
  secret: string,
  { launcher = [], signal, folderRoot, startMs, targets = known(launcher) }: ProbeOptions,
): Promise<WallProbe> {
  const sandbox = await openSandbox({
    functions: [],
    constants: {},
    grants: NO_GRANTS,
    launcher,
    onCall: () => Promise.reject(new Error("Cannot call the host: a probe has no functions")),
    limits: { memoryBytes: 256 << 20, outputBytes: 64 << 10, graceMs: 500, previewChars: 1000 },
    ...(signal ? { signal } : {}),
  }, {
    walls: walls ?? {},
    ...(folderRoot === undefined ? {} : { folderRoot }),
    ...(startMs === undefined ? {} : { startMs }),
  });
  try {
    const carried = launcher.length > 0;
    const missing = carried ? "" : missingTarget(targets);
    const program = code(secret, { carried, targets });
    const report = await sandbox.run({ code: program, iteration: 1, index: 0, deadlineMs: 5_000 });
    const through = throughOf(report);
    const stands = wall !== "kernel" && wall !== "process" || missingWalls(sandbox.walls, [wall]).length === 0;
    const why = through !== ""
      ? `got through: ${through}`
      : missing !== ""
      ? `it tried nothing: ${missing} does not exist here`
      : sandbox.walls.failed.join("; ");
    const holds = through === "" && missing === "" && stands;
    return { wall, holds, found: { text: holds ? text(sandbox) : why, fix } };
  } finally {
    await sandbox.close();
  }
}

function known(launcher: readonly string[]): ProbeTargets {
  return probeTargets(Deno.build.os, launcher.length > 0 ? () => true : existsSync);
}

function missingTarget({ file, folder, program }: ProbeTargets): string {
  return [file, folder, program].find((path) => !existsSync(path)) ?? "";
}

/** A wall may kill the child during an attempt, so a killed child counts as blocked. */
function throughOf({ result }: RunReport): string {
  if (result.outcome === "killed" || result.outcome === "memory") return "";
  if (result.outcome !== "value") return result.error?.message ?? result.outcome;
  return result.preview === "[]" ? "" : result.preview;
}
