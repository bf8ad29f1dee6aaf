import { join } from "node:path";

/** Only an attempt that the wall must deny can be "silent": the attempt had no effect, and the program reported no
 * result, or reported "denied" although `exists` is false. */
type ProbeOutcome = "allowed" | "denied" | "silent";

export interface ProbeRow {
  readonly name: string;
  readonly wanted: "allowed" | "denied";
  readonly outcome: ProbeOutcome;
}

interface ProbePlace {
  readonly workspace: string;
  readonly beside: string;
  readonly secretFile: string;
  readonly secret: string;
  readonly hidden: string;
  readonly port: number;
}

export interface ProbePrograms {
  readonly setUser: string;
  readonly keychain: string;
}

export const MAC_PROGRAMS: ProbePrograms = { setUser: "/bin/ps", keychain: "/usr/bin/security" };
const DATA_VOLUME = "/System/Volumes/Data";

interface Attempt {
  readonly name: string;
  readonly wanted: ProbeRow["wanted"];
  /** The shell runs this command in the workspace. Success means that an attempt with `wanted: "denied"` got through.
   * `$1` is the target of the attempt, `$2` the secret. */
  readonly command: string;
  readonly target: string;
  /** If false, the machine lacks the target, so that a denial proves nothing. */
  readonly exists?: boolean;
  /** The effect counts whatever the program prints. */
  readonly effect?: () => boolean;
}

export class Probe {
  readonly #attempts: readonly Attempt[];
  readonly #secret: string;

  constructor(place: ProbePlace, programs: ProbePrograms, { connected }: { readonly connected: () => boolean }) {
    this.#secret = place.secret;
    const at = (path: string): string => join(place.workspace, path);
    const config = text(at(".git/config"));
    const dataFile = join(DATA_VOLUME, place.secretFile);
    const changed = (): boolean => text(at(".git/config")) !== config;
    this.#attempts = [
      {
        name: "write in the workspace",
        wanted: "allowed",
        command: 'echo x >"$1"',
        target: "own",
        effect: () => text(at("own")) === "x\n",
      },
      { name: "read the folder of Vis", wanted: "denied", command: READ, target: place.secretFile },
      ...exists(dataFile)
        ? [
          {
            name: "read the folder of Vis through the data volume",
            wanted: "denied",
            command: READ,
            target: dataFile,
          } as const,
        ]
        : [],
      { name: "read a hidden file", wanted: "denied", command: READ, target: place.hidden },
      {
        name: "read a hidden file by a link",
        wanted: "denied",
        command: `ln "$1" linked-secret && cat linked-secret | grep -q "$2"`,
        target: place.hidden,
      },
      {
        name: "read a hidden file under another name",
        wanted: "denied",
        command: `mv "$1" moved-secret && cat moved-secret | grep -q "$2"`,
        target: place.hidden,
        effect: () => exists(at("moved-secret")),
      },
      {
        name: "write beside the workspace",
        wanted: "denied",
        command: 'echo x >"$1"',
        target: join(place.beside, "new"),
        effect: () => exists(join(place.beside, "new")),
      },
      {
        name: "change .git/config",
        wanted: "denied",
        command: 'echo x >>"$1"',
        target: ".git/config",
        effect: changed,
      },
      {
        name: "change .git/config by a link",
        wanted: "denied",
        command: 'ln "$1" linked-config && echo x >>linked-config',
        target: ".git/config",
        effect: changed,
      },
      {
        name: "move .git",
        wanted: "denied",
        command: 'mv "$1" moved-repository',
        target: ".git",
        effect: () => exists(at("moved-repository")),
      },
      {
        name: "make .vis in capital letters",
        wanted: "denied",
        command: 'mkdir "$1"',
        target: ".VIS",
        effect: () => exists(at(".VIS")),
      },
      {
        name: "connect to a server of this machine",
        wanted: "denied",
        command: `/bin/bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0"' "$1"`,
        target: String(place.port),
        exists: exists("/bin/bash"),
        effect: connected,
      },
      { name: "signal another process", wanted: "denied", command: 'kill -0 "$1"', target: String(Deno.pid) },
      {
        name: "run a program with the set-user bit",
        wanted: "denied",
        command: '"$1"',
        target: programs.setUser,
        exists: exists(programs.setUser),
      },
      {
        name: "ask the Keychain",
        wanted: "denied",
        command: `"$1" create-keychain -p x "$PWD/probe.keychain"`,
        target: programs.keychain,
        exists: exists(programs.keychain),
        effect: () => exists(at("probe.keychain")) || exists(at("probe.keychain-db")),
      },
    ];
  }

  get argv(): readonly string[] {
    const script = this.#attempts.map(({ command }, at) =>
      `attempt${at}() { ${command}; }
if (attempt${at} "\${${at + 2}}" "$1") >/dev/null 2>&1; then echo "${at} allowed"; else echo "${at} denied"; fi`
    );
    return ["/bin/sh", "-c", script.join("\n"), "sh", this.#secret, ...this.#attempts.map(({ target }) => target)];
  }

  rows(stdout: string): readonly ProbeRow[] {
    const printed = new Map(stdout.split("\n").map((line) => line.split(" ", 2) as [string, string]));
    return this.#attempts.map(({ name, wanted, effect, exists: isThere = true }, at): ProbeRow => {
      const said = printed.get(String(at));
      const happened = effect?.() ?? false;
      // A program may print anything, so a wanted success needs its effect. A wanted denial needs the program's report.
      const outcome = wanted === "allowed"
        ? (happened ? "allowed" : "denied")
        : happened || said === "allowed"
        ? "allowed"
        : said === "denied" && isThere
        ? "denied"
        : "silent";
      return { name, wanted, outcome };
    });
  }
}

const READ = 'cat "$1" | grep -q "$2"';

export function probeFault(rows: readonly ProbeRow[]): string {
  const wrong = rows.filter(({ wanted, outcome }) => wanted !== outcome);
  const reasons = wrong.map(({ name, wanted, outcome }) =>
    outcome === "silent"
      ? `it is not known whether commands can ${name}`
      : `commands ${wanted === "denied" ? "can" : "cannot"} ${name}`
  );
  return reasons.join(", ");
}

function text(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return null;
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
