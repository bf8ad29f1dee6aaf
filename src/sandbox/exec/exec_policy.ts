import type { GrantedPath } from "../confine/access.ts";

/** Hidden first argument that makes the executable confine itself and become another program. */
export const EXEC_ARGUMENT = "__confined_exec";
/** Exit code if that failed; the reason is on stderr, after the token. */
export const EXEC_FAILED = 125;
/** Exit code if only the private network failed; the reason is there as well. */
export const EXEC_NO_NETWORK = 124;

/** Exit code if only the private file system failed; the reason is there as well. */
export const EXEC_NO_MOUNTS = 123;

/** A network that has only a loopback. */
export interface PrivateNetwork {
  readonly kind: "private";
  /** Name of the machine's own network, which the program must not be in. */
  readonly outside: string;
  /** What is left to do: make one, join that of a process, start the loopback of the one that the launcher made, or
   * nothing, since the launcher joined one. */
  readonly to: "make" | "start" | "nothing" | { readonly join: number };
  /** With a file system that has only the paths of the policy, and unix sockets in it: the links of the machine that
   * lead to them. Null if it cannot be had. */
  readonly mounts: readonly (readonly [path: string, to: string])[] | null;
}

/** "tcp" to any address, a private one, or no sockets at all. */
export type ProgramNetwork =
  | PrivateNetwork
  | { readonly kind: "none" }
  /** With a file system of its own if there are `mounts`. */
  | { readonly kind: "tcp"; readonly mounts: PrivateNetwork["mounts"] };

/** What a confined program may use. Written by the main process, read once by the process that becomes the program. */
export interface ExecPolicy {
  /** Marks the reason of a failure: the program's own output cannot start with it. */
  readonly token: string;
  readonly parentPid: number;
  /** The complete environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute and real. May be read and executed. */
  readonly read: readonly GrantedPath[];
  /** Folders whose entries can be listed by name, recursively, but not read. */
  readonly list: readonly string[];
  /** May also be changed. */
  readonly write: readonly GrantedPath[];
  /** Nodes in /dev that may be read and written. */
  readonly devices: readonly string[];
  /** Files that the program sees as another one, in a file system of its own. */
  readonly hidden: { readonly paths: readonly string[]; readonly as: string };
  readonly network: ProgramNetwork;
  readonly limits: {
    readonly openFiles: number;
    readonly fileBytes: number;
    readonly cpuSeconds: number;
    /** Counted per user, not per program; does not apply to root. */
    readonly processes: number;
    /** The limit for message queues is of no use otherwise and can only be lowered. It identifies the call that a
     * process belongs to, however the process changes its parents, group, session and environment. */
    readonly tag: number;
  };
}
