import { look } from "../intrinsics/look.ts";
import { ownData } from "./object_kind.ts";

/** There is nothing of that name. */
export const MISSING: unique symbol = Symbol("missing");

/** `a.b.c` as a list of names; null for other tags (`x | upper`, `.Values.x`, `if a`). */
export function pathOf(tag: string): string[] | null {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*(\.[\p{ID_Continue}$]+)*$/u.test(tag) ? tag.split(".") : null;
}

/** The value at `a.b.length` within a value: own data properties and lengths only; nothing is inherited or run. */
export function follow(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (let i = 0; i < path.length; i++) {
    at = step(at, path[i]!);
    if (at === MISSING) return MISSING;
  }
  return at;
}

function step(value: unknown, key: string): unknown {
  if (typeof value === "string") return key === "length" ? value.length : MISSING;
  if (typeof value !== "object" || value === null || look.isProxy(value)) return MISSING;
  if (key === "size" && look.isMap(value)) return look.mapSize(value);
  if (key === "size" && look.isSet(value)) return look.setSize(value);
  if (key === "length" && look.isTypedArray(value)) return look.viewLength(value);
  if (look.isMap(value) && !look.hasOwn(value, key)) {
    const found: unknown = look.mapGet(value, key);
    return found === undefined ? MISSING : found;
  }
  if (look.hasOwn(value, key)) {
    const descriptor = look.descriptorOf(value, key);
    return descriptor && look.hasOwn(descriptor, "value") ? descriptor.value : MISSING;
  }
  if (look.isNativeError(value)) return ownData(look.prototypeOf(value) ?? value, key) ?? MISSING;
  return MISSING;
}
