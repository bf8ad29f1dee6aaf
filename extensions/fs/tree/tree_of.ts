import { Kernel } from "./kernel.ts";
import { KernelTree } from "./kernel_tree.ts";
import { PathTree } from "./path_tree.ts";
import type { Tree } from "./tree.ts";

/** Opens the files of a workspace in the safest way that the system supports; `root` is its real path. */
export function treeOf(root: string): Tree {
  const kernel = Kernel.shared();
  return kernel ? new KernelTree(kernel, root) : new PathTree(root);
}
