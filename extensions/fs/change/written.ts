import type { FsContext } from "../workspace/context.ts";
import { rememberFile } from "../read/read_place.ts";
import type { ChangeItem } from "../checkpoints/snapshot.ts";
import { diffOf, type Encodings } from "./diff_of.ts";

export interface Written {
  readonly path: string;
  readonly bytes: number;
  /** Unified diff against the previous text; "" if nothing changed. */
  readonly diff: string;
}

/** The result for a changed file, whose state the conversation knows from now on. */
export async function written(
  context: FsContext,
  { path, before, after }: ChangeItem,
  { named = path, ...encodings }: Encodings & { readonly named?: string } = {},
): Promise<Written> {
  const bytes = after?.kind === "file" ? after.bytes : null;
  if (bytes) {
    const info = context.tree.look(path);
    if (info) {
      rememberFile(context, { place: { real: path }, bytes, lossy: false, encoding: encodings.encoding ?? null, info });
    }
  }
  return {
    path: named,
    bytes: bytes?.length ?? 0,
    diff: await diffOf({ path, before, after }, { named, ...encodings }),
  };
}
