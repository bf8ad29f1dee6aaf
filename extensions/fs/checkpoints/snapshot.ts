import { sha256Of } from "../tree/sha256_of.ts";
import type { Attributes, Facts, NewFile } from "../tree/tree.ts";

export interface FileSnapshot extends NewFile {
  readonly kind: "file";
}

/** What is at a path; null if nothing is. For a folder, only that it exists. */
export type PathSnapshot =
  | FileSnapshot
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "dir"; readonly mode: number | null }
  | null;

/** A snapshot as stored: the bytes of a file are under their hash. */
export type State =
  | {
    readonly kind: "file";
    readonly hash: string;
    readonly size: number;
    readonly mode: number | null;
    readonly attributes?: Attributes;
  }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "dir"; readonly mode: number | null }
  | null;

/** One path in a change. */
export interface ChangeItem {
  /** Relative to the workspace, without links. */
  readonly path: string;
  readonly before: PathSnapshot;
  readonly after: PathSnapshot;
  /** The entry that was inspected: the change is refused if it is no longer the same. */
  readonly seen?: Facts | null;
  /** The file of this other item, which goes, is renamed to this path before its contents are written. */
  readonly from?: string | undefined;
}

export async function stateOf(snapshot: PathSnapshot): Promise<State> {
  if (snapshot === null) return null;
  if (snapshot.kind === "link") return { kind: "link", target: snapshot.target };
  if (snapshot.kind === "dir") return { kind: "dir", mode: snapshot.mode };
  const { bytes, mode, attributes } = snapshot;
  const state = { kind: "file", hash: await sha256Of(bytes), size: bytes.length, mode } as const;
  return attributes ? { ...state, attributes } : state;
}

/** Whether two states are the same to a reader; modes and attributes are ignored. */
export function isSameState(a: State, b: State): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind === "file" && b.kind === "file") return a.hash === b.hash;
  if (a.kind === "link" && b.kind === "link") return a.target === b.target;
  return a.kind === "dir" && b.kind === "dir";
}
