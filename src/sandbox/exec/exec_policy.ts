import type { GrantedPath } from "../confine/access.ts";

/** Words behind the token on stderr: why nothing ran, with a reason, and what the first process says. */
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
  /** A process whose network it joins; null if no other program began one. */
  readonly other: number | null;
  /** Ids of an ordinary user, who needs a namespace of users; null for root. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** Links of the machine that lead to the program's files. */
  readonly links: readonly (readonly [path: string, to: string])[];
  /** Parts of the folders that the program may change: outer ones come first. Each stays where it is. */
  readonly layers: readonly Layer[];
  /** Files that the program sees as another one. */
  readonly hidden: { readonly paths: readonly string[]; readonly as: string };
}

/** What a confined program may use. */
export interface ExecPolicy {
  /** The folder that it starts in, absolute and real. */
  readonly cwd: string;
  /** Whether there is input behind the plan. */
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
