import type { Libc } from "../confine/libc.ts";

const AT_FDCWD = BigInt.asUintN(64, -100n), MAY_RUN = 1n;
const ENOENT = 2, EACCES = 13, ENOTDIR = 20, ENOEXEC = 8, E2BIG = 7;
const WORDS: Readonly<Record<number, string>> = {
  [ENOENT]: "it does not exist, or the interpreter that it names does not",
  [EACCES]: "it cannot be executed: it is not a program, or it is in a folder that commands may not read",
  [ENOEXEC]: "it is not a program and names no interpreter",
  [E2BIG]: "its arguments are too long",
};

/** Replaces this process with a program. Returns only on failure, with the reason as text. */
export function becomeProgram(
  libc: Libc,
  { argv, env }: { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> },
): string {
  const name = argv[0] ?? "";
  const args = new StringList(libc, argv);
  const variables = new StringList(libc, Object.entries(env).map(([key, value]) => `${key}=${value}`));
  let worst = ENOENT;
  for (const path of candidates(name, env["PATH"] ?? "")) {
    const bytes = cString(path);
    libc.call("execve", [libc.address(bytes), args.address, variables.address]);
    const errno = libc.errno();
    // Not by its number, which may be of another call.
    const canRun = libc.call("faccessat", [AT_FDCWD, libc.address(bytes), MAY_RUN]) === 0;
    if (canRun ? errno !== ENOENT && errno !== ENOTDIR : errno === EACCES) worst = errno;
    if (canRun && ![ENOENT, ENOTDIR, EACCES].includes(errno)) break;
  }
  return `Cannot run ${name}: ${WORDS[worst] ?? `errno ${worst}`}`;
}

function candidates(name: string, path: string): string[] {
  if (name.includes("/")) return [name];
  return path.split(":").filter((folder) => folder.startsWith("/")).map((folder) => `${folder}/${name}`);
}

function cString(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}

/** A `char *[]`. It owns the bytes that it points to. */
class StringList {
  readonly #strings: readonly Uint8Array<ArrayBuffer>[];
  readonly #pointers: Uint8Array<ArrayBuffer>;
  readonly address: bigint;

  constructor(libc: Libc, strings: readonly string[]) {
    this.#strings = strings.map(cString);
    const addresses = [...this.#strings.map((bytes) => libc.address(bytes)), 0n];
    this.#pointers = new Uint8Array(new BigUint64Array(addresses).buffer);
    this.address = libc.address(this.#pointers);
  }
}
