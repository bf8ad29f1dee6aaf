import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TOOLS = [
  "sh",
  "cat",
  "chmod",
  "env",
  "find",
  "id",
  "ln",
  "mkdir",
  "mktemp",
  "mv",
  "readlink",
  "rm",
  "sleep",
  "uname",
];

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns a script that answers `--version` and prints how it was run. */
export function fakeDeno(version: string, name = version): string {
  return `#!/bin/sh
if [ "$1" = --version ]; then echo "deno ${version} (stable, release, test)"; echo "v8 1.2.3"; exit 0; fi
echo "ran ${name}: $*"
echo "store=\${DENO_TLS_CA_STORE-unset} dir=\${DENO_DIR-unset}"
exit "\${FAKE_EXIT:-0}"
`;
}

/** Returns an npm that "installs" a Deno of `version` into its working folder and counts its calls in `npm.log`. */
function fakeNpm(version: string, log: string): string {
  return `#!/bin/sh
echo "$*" >>'${log}'
sleep 0.05
mkdir -p node_modules/@deno/test-x64
cat >node_modules/@deno/test-x64/deno <<'END'
${fakeDeno(version, "installed")}END
echo "noise of npm"
`;
}

/** A checkout with the scripts of `bin/` and a PATH with only the programs of the test. */
export class Checkout implements AsyncDisposable {
  readonly home: string;
  readonly root: string;
  readonly log: string;
  constructor(readonly folder: string) {
    this.home = join(folder, "home");
    this.root = join(folder, "check out");
    this.log = join(folder, "npm.log");
  }

  static async make(): Promise<Checkout> {
    const made = new Checkout(await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-ground-" })));
    for (const folder of ["home", "check out/bin", "tools", "path"]) {
      await Deno.mkdir(join(made.folder, folder), { recursive: true });
    }
    for (const name of ["deno", "vis"]) await Deno.copyFile(join(ROOT, "bin", name), join(made.root, "bin", name));
    for (const tool of TOOLS) {
      for (const folder of ["/usr/bin", "/bin"]) {
        if (await Deno.symlink(join(folder, tool), join(made.folder, "tools", tool)).then(() => true, () => false)) {
          break;
        }
      }
    }
    return made;
  }

  async put(name: string, text: string, place = "path"): Promise<string> {
    const path = join(this.folder, place, name);
    await Deno.mkdir(join(this.folder, place), { recursive: true });
    await Deno.writeTextFile(path, text, { mode: 0o755 });
    return path;
  }

  /** The scripts only look for Node, and call npm. */
  async putNpm(version: string): Promise<void> {
    await this.put("node", "#!/bin/sh\n");
    await this.put("npm", fakeNpm(version, this.log));
  }

  async npmCalls(): Promise<number> {
    return (await Deno.readTextFile(this.log).catch(() => "")).split("\n").length - 1;
  }

  async run(
    args: readonly string[],
    options: { readonly env?: Record<string, string>; readonly program?: string; readonly cwd?: string } = {},
  ): Promise<Ran> {
    const path = [join(this.folder, "path"), join(this.folder, "tools")].join(":");
    const { code, stdout, stderr } = await new Deno.Command(options.program ?? join(this.root, "bin/deno"), {
      args: [...args],
      cwd: options.cwd ?? this.folder,
      clearEnv: true,
      env: { PATH: path, HOME: this.home, ...options.env },
      stdin: "null",
    }).output();
    const text = new TextDecoder();
    return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
