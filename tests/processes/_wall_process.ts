import { join } from "node:path";
import { PERMISSIONS, V8_FLAGS } from "../../scripts/flags.ts";
import { ROOT } from "../../scripts/_project.ts";

/** Starts a process with the permissions of Vis and its own wall, which runs this code with these arguments. `through`
 * is a command that ends with this process. */
export async function wallProcess(
  code: string,
  args: readonly string[],
  { through = [], env = {} }: {
    readonly through?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<Deno.ChildProcess> {
  const [program = "", ...words] = [
    ...[...through, Deno.execPath(), "run", "--quiet", "--no-prompt", "--no-lock", "--config"],
    ...[join(ROOT, "deno.json"), "--ext=ts", ...PERMISSIONS, `--v8-flags=${V8_FLAGS.join(",")}`, "-", ...args],
  ];
  const options = { cwd: ROOT, env, stdin: "piped", stdout: "piped", stderr: "piped" } as const;
  const child = new Deno.Command(program, { args: words, ...options }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(WALL + code));
  await writer.close();
  return child;
}

const WALL = `
import { LinuxWall } from "./src/processes/linux/linux_wall.ts";
const wall = new LinuxWall({ home: null, visHome: null, read: [], network: false, env: {} });
`;
