import type { PathMap } from "./path_map.ts";

export interface ReplayRequest {
  readonly cwd?: string | undefined;
  /** The workspace in which the conversation was recorded. */
  readonly recorded: string;
  /** Whether blocks work in the workspace itself. */
  readonly inPlace: boolean;
  readonly signal: AbortSignal;
}

/** Where a replay runs. The caller closes it after the session. */
export interface ReplayPlace {
  /** Real path of the folder in which blocks work. */
  readonly workspace: string;
  /** Vis's own folder, for extensions. */
  readonly home: string | null;
  /** Maps the recorded paths to those of the replay. */
  readonly paths: PathMap;
  /** What was copied. `leftOut` are sockets, devices and files that cannot be read. Null if there is no copy. */
  readonly copied: {
    readonly from: string;
    readonly files: number;
    readonly bytes: number;
    readonly leftOut: number;
  } | null;
  /** Removes the copy. */
  close(): Promise<void>;
}
