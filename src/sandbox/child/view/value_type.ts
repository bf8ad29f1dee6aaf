import { look } from "../intrinsics/look.ts";
import { bytesOf, classNameOf, kindOf, lengthOf, tagOf } from "./object_kind.ts";

export interface ValueType {
  /** "string", "Array", "function", a class name … */
  readonly type: string;
  /** Characters of a string, items of a collection, keys of an object, bytes of a buffer. */
  readonly size: number | null;
}

/** The type and size of a value; runs no code of it. */
export function typeOf(value: unknown): ValueType {
  if (value === null) return { type: "null", size: null };
  if (typeof value === "string") return { type: "string", size: value.length };
  if (typeof value !== "object" && typeof value !== "function") return { type: typeof value, size: null };
  const kind = kindOf(value);
  switch (kind) {
    case "proxy":
      return { type: "Proxy", size: null };
    case "function":
    case "class":
      return { type: kind, size: null };
    case "array":
    case "arguments":
    case "typed":
      return { type: classNameOf(value) || "Array", size: lengthOf(value) };
    case "map":
      return { type: classNameOf(value) || "Map", size: look.mapSize(value) };
    case "set":
      return { type: classNameOf(value) || "Set", size: look.setSize(value) };
    case "buffer":
    case "dataview":
      return { type: classNameOf(value) || "ArrayBuffer", size: bytesOf(value, kind) };
    case "object": {
      const name = classNameOf(value), tag = name === "" || name === "Object" ? tagOf(value) : "";
      return { type: tag || name || "Object", size: tag ? null : look.keys(value).length };
    }
    default:
      return { type: classNameOf(value) || "Object", size: null };
  }
}
