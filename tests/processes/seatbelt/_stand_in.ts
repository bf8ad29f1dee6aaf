import { join } from "node:path";
import { PROC } from "../../../src/processes/proc_files.ts";
import type { ProcessTable } from "../../../src/processes/seatbelt/process_tree.ts";
import { SeatbeltWall, type SeatbeltWallOptions } from "../../../src/processes/seatbelt/seatbelt_wall.ts";
import { withFolder } from "../../helpers/with_folder.ts";

/** The stand-ins are scripts for bash, and the table of processes is Linux's. */
export const ignore = Deno.build.os !== "linux";

export const LINUX_TABLE: ProcessTable = {
  children: (pid) => all().flatMap((one) => one.parent === pid ? [one.pid] : []),
  group: (pid) => all().flatMap((one) => one.group === pid ? [one.pid] : []),
  started: (pid) => factsOf(pid)?.started ?? null,
  signal: (pid, name) => {
    try {
      Deno.kill(pid, name);
    } catch { /* The process has already ended. */ }
  },
};

function all() {
  return PROC.processes().map(factsOf).filter((facts) => facts !== null);
}

function factsOf(pid: number) {
  try {
    const stat = PROC.read(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return null;
    return { pid, parent: Number(fields[1]), group: Number(fields[2]), started: fields[19] ?? "" };
  } catch {
    return null;
  }
}

/** The behaviour of a stand-in for `sandbox-exec`. All of them record their arguments. */
export type Behaviour =
  /** The stand-in lets the probe's attempts fail, except on these targets (patterns of bash), and confines no other
   * access. */
  | { readonly obeys: true; readonly except?: readonly string[] }
  /** The stand-in lets everything through, and reports denials. */
  | "lies"
  /** The stand-in ends without starting the program. */
  | "refuses"
  /** The stand-in starts the program and loses its output. */
  | "mute";

/** The first target of the probe follows the command that starts it. */
const FIRST_TARGET = 10;

function script(behaviour: Behaviour, log: string): string {
  const record = `#!/bin/bash
for one in "$@"; do printf '%s\\0' "$one"; done >"${log}/$(date +%s%N)-$$"
while [[ "$1" != -- ]]; do shift; done
shift
args=("$@")
`;
  if (behaviour === "lies") return `${record}"\${args[@]}" | sed 's/ allowed/ denied/'\n`;
  if (behaviour === "refuses") return `${record}echo 'sandbox_apply: Operation not permitted' >&2\nexit 71\n`;
  if (behaviour === "mute") return `${record}"\${args[@]}" >/dev/null\n`;
  const through = (behaviour.except ?? []).map((target) => `    [[ "\${args[at]}" == ${target} ]] && continue`);
  return `${record}if [[ "\${args[6]}" == *attempt0* ]]; then
  for ((at = ${FIRST_TARGET}; at < \${#args[@]}; at++)); do
${through.join("\n")}
    args[at]=/nonexistent/target
  done
fi
exec "\${args[@]}"
`;
}

export interface Place {
  readonly root: string;
  readonly workspace: string;
  readonly home: string;
  readonly visHome: string;
  readonly keychain: string;
  readonly wall: SeatbeltWall;
  started(): Promise<readonly (readonly string[])[]>;
}

export async function place(
  behaviour: Behaviour,
  test: (place: Place) => Promise<void>,
  options: Partial<SeatbeltWallOptions> = {},
): Promise<void> {
  await withFolder(async (folder) => {
    const root = await Deno.realPath(folder);
    const at = (name: string): string => join(root, name);
    for (const name of ["workspace/.git", "home/.vis", "temporary", "log"]) {
      await Deno.mkdir(at(name), { recursive: true });
    }
    await Deno.writeTextFile(at("sandbox-exec"), script(behaviour, at("log")), { mode: 0o755 });
    // The real program also makes a file.
    await Deno.writeTextFile(at("security"), '#!/bin/sh\n[ "$1" = create-keychain ] && : >"$4"\n', { mode: 0o755 });
    const wall = new SeatbeltWall({
      home: at("home"),
      visHome: at("home/.vis"),
      read: [],
      network: false,
      env: { PATH: "/usr/bin:/bin", TOKEN: "the-token-of-the-user" },
      temporary: at("temporary"),
      system: {
        sandboxExec: at("sandbox-exec"),
        processes: LINUX_TABLE,
        developer: [at("no-developer-tools")],
        probe: { setUser: "/bin/true", keychain: at("security") },
      },
      ...options,
    });
    const started = async () => {
      const names = await Array.fromAsync(Deno.readDir(at("log")), ({ name }) => name);
      return await Promise.all(
        names.sort().map(async (name) => (await Deno.readTextFile(at(`log/${name}`))).split("\0").slice(0, -1)),
      );
    };
    const [workspace, home, visHome] = [at("workspace"), at("home"), at("home/.vis")];
    await test({ root, workspace, home, visHome, keychain: at("security"), wall, started });
  });
}

export function parametersOf(args: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    args.slice(0, args.indexOf("--")).flatMap((arg) => {
      const [, name = "", value = ""] = /^-D(\w+)=(.*)$/s.exec(arg) ?? [];
      return name === "" ? [] : [[name, value] as const];
    }),
  );
}
