import { captured } from "../intrinsics/captured.ts";
import { look } from "../intrinsics/look.ts";

const SUFFIX = 0x200d;

/** The name that `rewrite/top_level_declarations.ts` gives to a function which is called before its declaration. */
function withoutSuffix(text: string): string {
  const end = look.indexOf(text, "(");
  let start = end;
  while (start > 0 && look.charCodeAt(text, start - 1) === SUFFIX) start--;
  return start < end ? look.slice(text, 0, start) + look.slice(text, end) : text;
}

const NATIVE = "function toString() { [native code] }";

/** Declared functions run without their name, or under another one: as text they are what the model wrote. */
export function replaceFunctionText(sourceOf: (value: object) => string | null): void {
  const { toString } = {
    toString(this: object): string {
      if (typeof this !== "function") return look.functionText(this); // throws
      return this === toString ? NATIVE : sourceOf(this) ?? withoutSuffix(look.functionText(this));
    },
  };
  captured.defineProperty(look.function, "toString", {
    value: toString,
    writable: true,
    configurable: true,
    enumerable: false,
  });
}
