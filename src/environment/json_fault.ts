const MAX_DEPTH = 500;

type Place = { readonly path?: string; readonly depth?: number };

/** Why a value would not survive a JSON round trip, with the path; null if it would. Runs no getters. */
export function jsonFault(value: unknown, { path = "", depth = 0 }: Place = {}): string | null {
  const at = path === "" ? "the value" : path;
  if (value === null || typeof value === "boolean" || typeof value === "string") return null;
  if (typeof value === "number") return Number.isFinite(value) ? null : `${at} is ${value}, which is not JSON`;
  if (typeof value !== "object") return `${at} is ${describe(value)}, which is not JSON`;
  if (depth > MAX_DEPTH) return `${at.slice(0, 100)}… is nested too deep, or contains itself`;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const fault = jsonFault(value[i], { path: `${path}[${i}]`, depth: depth + 1 });
      if (fault !== null) return fault;
    }
    return null;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return `${at} is ${describe(value)}, which is not JSON`;
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (!("value" in descriptor)) return `${path}.${key} has a getter`;
    // Undefined keys are left out, as in JSON.
    const fault = descriptor.value === undefined
      ? null
      : jsonFault(descriptor.value, { path: `${path}.${key}`, depth: depth + 1 });
    if (fault !== null) return fault;
  }
  return null;
}

function describe(value: unknown): string {
  if (typeof value !== "object") return value === undefined ? "undefined" : `a ${typeof value}`;
  const name: unknown = value?.constructor?.name;
  return typeof name === "string" && name !== "" ? `a ${name}` : "an object of a class";
}
