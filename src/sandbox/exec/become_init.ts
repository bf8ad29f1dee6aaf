import type { Libc } from "../confine/libc.ts";
import type { ExecPolicy } from "./exec_policy.ts";
import { INIT } from "./init.ts";

const AT_EMPTY_PATH = 0x1000n, MFD_CLOEXEC = 1n;

/** Replaces this process with the first process (init.c), which starts the program. Returns only on failure, with the
 * reason as text. */
export function becomeInit(libc: Libc, { token, argv, env, input }: ExecPolicy): string {
  const fault = (what: string): string => `Cannot start a program: ${what}: errno ${libc.errno()}`;
  if (!input) {
    const nothing = libc.open("/dev/null");
    if (libc.call("dup3", [BigInt.asUintN(64, BigInt(nothing)), 0n, 0n]) < 0) return fault("its input");
  }
  const name = cString("init");
  const memory = BigInt.asUintN(64, BigInt(libc.call("memfd_create", [libc.address(name), MFD_CLOEXEC])));
  const code = Uint8Array.from(atob(INIT[Deno.build.arch]), (char) => char.charCodeAt(0));
  if (libc.call("write", [memory, libc.address(code), BigInt(code.length)]) !== code.length) return fault("memory");
  const args = new StringList(libc, [token, ...argv]);
  const variables = new StringList(libc, Object.entries(env).map(([key, value]) => `${key}=${value}`));
  const path = cString("");
  libc.call("execveat", [memory, libc.address(path), args.address, variables.address, AT_EMPTY_PATH]);
  const errno = libc.errno();
  return errno === E2BIG
    ? `Cannot run ${
      argv[0]
    }: its arguments or variables are too long, the system takes 128 KiB for each; use a file, or stdin`
    : fault("its first process");
}

const E2BIG = 7;

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
