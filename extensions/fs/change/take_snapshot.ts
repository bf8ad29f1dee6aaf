import { movedMeanwhile } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { Pace } from "../../../src/extension/spec.ts";
import { readWhole } from "../read/read_place.ts";
import { sizeText } from "../tree/size_text.ts";
import type { PathSnapshot } from "../checkpoints/snapshot.ts";

/** Maximum size that one change may remove or move, so that it can be undone. */
export const MAX_KEPT = 64 * 1024 * 1024;

/** What is at a path that contains no link. Throws RangeError for more than `MAX_KEPT` bytes, and for anything but a
 * file, a folder or a link. */
export async function takeSnapshot(
  context: Pick<FsContext, "tree" | "signal">,
  path: string,
): Promise<PathSnapshot> {
  const facts = look(context, path);
  if (facts === null) return null;
  const { mode, uid, gid } = facts;
  if (facts.kind === "dir") return { kind: "dir", mode };
  if (facts.kind === "link") return { kind: "link", target: context.tree.readLink(path) };
  if (facts.kind === "other") throw new RangeError(`Cannot change ${path}: it is not a regular file`);
  await new Pace(context.signal).rest();
  using file = context.tree.open(path);
  const bytes = await readWhole(file, { size: file.facts.size, most: MAX_KEPT, signal: context.signal });
  if (bytes !== null) return { kind: "file", bytes, mode, owner: { uid, gid }, attributes: file.attributes() };
  throw new RangeError(`Cannot change ${path}: ${sizeText(facts.size)} is too large to be undone`);
}

function look({ tree }: Pick<FsContext, "tree">, path: string) {
  try {
    return tree.look(path);
  } catch (error) {
    throw error instanceof Deno.errors.FilesystemLoop ? movedMeanwhile(path) : error;
  }
}
