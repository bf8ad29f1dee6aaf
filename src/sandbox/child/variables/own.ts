import { encode } from "../../codec/codec.ts";
import { look } from "../intrinsics/look.ts";
import type { KnownFunctions } from "./functions.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const MAX_BYTES = 64 << 20;

/** What a function or class has besides its code: `f.cache = {}`, the values of static fields. Functions among them are
 * restored with the code or not at all. Null if there is nothing. */
export function encodeOwn(value: object, functions: KnownFunctions): Bytes | null {
  const own = ownData(value);
  if (!own) return null;
  return tryEncode(own, functions) ?? tryEncode(covered(own, functions), functions);
}

function ownData(value: object): Record<string, unknown> | null {
  const keys = look.ownKeys(value);
  let own: Record<string, unknown> | null = null;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (typeof key === "symbol") continue;
    const found = look.descriptorOf(value, key);
    if (!found?.enumerable || !look.hasOwn(found, "value") || typeof found.value === "function") continue;
    own ??= look.create(null) as Record<string, unknown>;
    own[key] = found.value;
  }
  return own;
}

/** Those that the codec accepts individually. */
function covered(own: Record<string, unknown>, functions: KnownFunctions): Record<string, unknown> | null {
  let left: Record<string, unknown> | null = null;
  for (const key in own) {
    const one: Record<string, unknown> = look.create(null);
    one[key] = own[key];
    if (!tryEncode(one, functions)) continue;
    left ??= look.create(null) as Record<string, unknown>;
    left[key] = own[key];
  }
  return left;
}

function tryEncode(own: Record<string, unknown> | null, functions: KnownFunctions): Bytes | null {
  if (!own) return null;
  try {
    return encode(own, { maxBytes: MAX_BYTES, instanceOf: (found) => functions.classOf(found) });
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
