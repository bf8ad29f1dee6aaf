/** Entry point of the third bundle: the type stripper, as a script without exports. The child's main thread reads its
 * text before Landlock blocks files and evaluates it when a block first needs it, so that it does not slow the start. */
import { transform } from "sucrase";

Reflect.set(globalThis, Symbol.for("sandbox.sucrase"), transform);
