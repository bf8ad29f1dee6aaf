import { encode } from "../../codec/codec.ts";
import { look } from "../intrinsics/look.ts";
import type { KnownFunctions } from "./functions.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const MAX_BYTES = 64 << 20;

export interface OwnParts {
  readonly functions: KnownFunctions;
  /** Whether functions among its own properties may come from its source: `static f = () => 1`. */
  readonly isClass: boolean;
  /** Called with what the bytes cannot keep. */
  readonly lost: (what: string, path: string) => void;
}

/** What a function or class has besides its code: `f.cache = {}`, the values of static fields. Functions among them are
 * restored with the code or not at all. Null if there is nothing. */
export function encodeOwn(value: object, { functions, isClass, lost }: OwnParts): Bytes | null {
  const keys = look.ownKeys(value);
  let kept: Record<string, unknown> | null = null;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!, found = look.descriptorOf(value, key);
    if (!found?.enumerable) continue;
    if (typeof key === "symbol") {
      if (!isClass) lost("symbol key", `[${look.symbolText(key)}]`);
    } else if (!look.hasOwn(found, "value")) lost("getter", `.${key}`);
    else if (typeof found.value === "function") {
      if (!isClass) lost("function", `.${key}`);
    } else {
      const one: Record<string, unknown> = look.create(null);
      one[key] = found.value;
      if (!tryEncode(one, functions)) lost("value", `.${key}`);
      else (kept ??= look.create(null) as Record<string, unknown>)[key] = found.value;
    }
  }
  if (!look.isExtensible(value)) lost("frozen state of", "");
  return kept && tryEncode(kept, functions, lost);
}

function tryEncode(
  own: Record<string, unknown>,
  functions: KnownFunctions,
  lost: OwnParts["lost"] = () => {},
): Bytes | null {
  try {
    return encode(own, { maxBytes: MAX_BYTES, instanceOf: (found) => functions.classOf(found), lost });
  } catch {
    return null;
  }
}

/** Gives a function or class that was evaluated again its own data. */
export function bindOwn(value: object, own: object): void {
  const keys = look.keys(own);
  for (let i = 0; i < keys.length; i++) {
    const descriptor = look.setPrototypeOf({
      value: look.descriptorOf(own, keys[i]!)?.value,
      writable: true,
      enumerable: true,
      configurable: true,
    }, null);
    try {
      look.defineProperty(value, keys[i]!, descriptor);
    } catch {
      continue; // its code made it permanent
    }
  }
}
