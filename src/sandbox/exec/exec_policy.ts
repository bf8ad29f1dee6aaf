import type { GrantedPath } from "../confine/access.ts";

/** Hidden first argument that makes the executable confine itself and become another program. */
export const EXEC_ARGUMENT = "__confined_exec";
/** Exit code of one that could not; its reason is on stderr, behind the token. */
export const EXEC_FAILED = 125;

/** What a confined program gets. Written by the main process, read once by the process that becomes the program. */
export interface ExecPolicy {
  /** Marks the reason of a failure: what the program itself writes does not begin so. */
  readonly token: string;
  readonly parentPid: number;
  /** All of it; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute and real. May be read and run. */
  readonly read: readonly GrantedPath[];
  /** Folders that show what they and those in them are called, and no more. */
  readonly list: readonly string[];
  /** May be changed as well. */
  readonly write: readonly GrantedPath[];
  /** Nodes of /dev that may be read and written. */
  readonly devices: readonly string[];
  /** TCP to anywhere; else no socket at all. */
  readonly network: boolean;
  readonly limits: {
    readonly openFiles: number;
    readonly fileBytes: number;
    readonly cpuSeconds: number;
    /** Of the user, not of the program; root is not held by it. */
    readonly processes: number;
    /** The limit for message queues is of no use to anyone and can only be lowered: it names the call that a process
     * belongs to, whatever it does about its parents, group, session and environment. */
    readonly tag: number;
  };
}
