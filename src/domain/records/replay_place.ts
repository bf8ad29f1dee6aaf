import type { PathMap } from "./path_map.ts";

export interface ReplayRequest {
  readonly cwd?: string | undefined;
  /** The workspace in which the conversation was recorded. */
  readonly recorded: string;
  /** Blocks work in the workspace itself. */
  readonly inPlace: boolean;
  readonly signal: AbortSignal;
}

/** Where a replay works. Whoever asked for it closes it, after the session. */
export interface ReplayPlace {
  /** Real path of the folder in which blocks work. */
  readonly workspace: string;
  /** For extensions. */
  readonly home: string | null;
  /** From the recorded paths to those of this place. */
  readonly paths: PathMap;
  /** What the copy was made of; `leftOut` are sockets, devices and files that may not be read. Null where there is none. */
  readonly copied: {
    readonly from: string;
    readonly files: number;
    readonly bytes: number;
    readonly leftOut: number;
  } | null;
  /** Removes the copy. */
  close(): Promise<void>;
}
