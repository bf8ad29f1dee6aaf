/**
 * Entry of the third bundle: the stripper of types, as a script without exports. The child's main thread reads its
 * text before Landlock shuts the files and evaluates it when a block first needs it, so that start-up does not pay.
 */
import { transform } from "sucrase";

Reflect.set(globalThis, Symbol.for("sandbox.sucrase"), transform);
