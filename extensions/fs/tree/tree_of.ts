import { Kernel } from "./kernel.ts";
import { KernelTree } from "./kernel_tree.ts";
import { PathTree } from "./path_tree.ts";
import type { Tree } from "./tree.ts";

/** The files of a workspace, of which `root` is the real path, in the safest way that the system has. */
export function treeOf(root: string): Tree {
  const kernel = Kernel.shared();
  return kernel ? new KernelTree(kernel, root) : new PathTree(root);
}
