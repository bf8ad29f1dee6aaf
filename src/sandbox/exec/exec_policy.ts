import type { GrantedPath } from "../confine/access.ts";

/** Hidden first argument that makes the executable confine itself and start another program. */
export const EXEC_ARGUMENT = "__confined_exec";

/** Words behind the token on stderr: of the launcher, why nothing ran, with a reason, and of the first process. */
export const SAID = {
  failed: "failed",
  noNamespaces: "no-namespaces",
  begun: "begun",
  cannot: "cannot",
  signal: "signal",
  left: "left",
} as const;

/** TCP to any address, a network that has only a loopback, or no sockets at all. */
export type ProgramNetwork = "tcp" | "private" | "none";

/** Part of the file system that differs from the folder around it. */
export interface Layer extends GrantedPath {
  /** A link itself, not what it leads to. */
  readonly link: boolean;
  readonly writable: boolean;
}

/** Namespaces that the program is in. */
export interface OwnNamespaces {
  /** Name of the machine's own network, which the program must not be in; null if it uses that one. */
  readonly outside: string | null;
  /** Whether to start the loopback: not in a network that another program began. */
  readonly startLoopback: boolean;
  /** Links of the machine that lead to the program's files. */
  readonly links: readonly (readonly [path: string, to: string])[];
  /** Parts of the folders that the program may change: outer ones come first. Each stays where it is. */
  readonly layers: readonly Layer[];
  /** Files that the program sees as another one. */
  readonly hidden: { readonly paths: readonly string[]; readonly as: string };
}

/** What a confined program may use. Written by the main process, read once by the process that starts the program. */
export interface ExecPolicy {
  /** Marks lines of the launcher and of the first process: the program does not know it. */
  readonly token: string;
  readonly argv: readonly string[];
  /** The complete environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether there is input behind the policy. */
  readonly input: boolean;
  /** Absolute and real. May be read and executed. */
  readonly read: readonly GrantedPath[];
  /** Folders whose entries can be listed by name, recursively, but not read. */
  readonly list: readonly string[];
  /** May also be changed. */
  readonly write: readonly GrantedPath[];
  /** Nodes in /dev that may be read and written. */
  readonly devices: readonly string[];
  readonly network: ProgramNetwork;
  /** Null where they cannot be had. */
  readonly namespaces: OwnNamespaces | null;
  readonly limits: {
    readonly openFiles: number;
    readonly fileBytes: number;
    readonly cpuSeconds: number;
    /** Counted per user and namespace, not per program; does not apply to root. */
    readonly processes: number;
  };
}
