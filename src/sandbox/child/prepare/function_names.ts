import type { AnyNode, Program } from "acorn";
import type { VariableImage } from "../../../domain/query/variable.ts";
import { childNodes, freeNames, isClass, isFunction } from "../syntax/analysis.ts";

/** Names that functions and classes of this child refer to. Code that may run in the middle of a statement, through a
 * getter or a conversion, can see only these. */
export class FunctionNames {
  readonly #names = new Set<string>();

  addBlock(program: Program): void {
    if (freeNames(program).includes("globalThis")) this.#names.add("globalThis");
    this.#add(program);
  }

  #add(node: AnyNode): void {
    if (isFunction(node) || isClass(node)) { for (const name of freeNames(node)) this.#names.add(name); }
    else childNodes(node).forEach((child) => this.#add(child));
  }

  /** Adds functions and classes restored from a snapshot. */
  addImages(images: readonly Pick<VariableImage, "name" | "kind" | "requires">[]): void {
    for (const { name, kind, requires } of images) {
      if (kind === "function" || kind === "class") [name, ...requires].forEach((one) => this.#names.add(one));
    }
  }

  /** Whether a function may refer to the name. Code that has the global object can refer to everything. */
  has(name: string): boolean {
    return this.#names.has(name) || this.#names.has("globalThis");
  }
}
