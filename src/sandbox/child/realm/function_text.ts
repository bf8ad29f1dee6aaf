import { captured } from "../intrinsics/captured.ts";
import { look } from "../intrinsics/look.ts";

const NATIVE = "function toString() { [native code] }";

/** Declared functions run without their name, or under another one: as text they are what the model wrote. */
export function replaceFunctionText(sourceOf: (value: object) => string | null): void {
  const { toString } = {
    toString(this: object): string {
      if (typeof this !== "function") return look.functionText(this); // throws
      return this === toString ? NATIVE : sourceOf(this) ?? look.functionText(this);
    },
  };
  captured.defineProperty(look.function, "toString", {
    value: toString,
    writable: true,
    configurable: true,
    enumerable: false,
  });
}
