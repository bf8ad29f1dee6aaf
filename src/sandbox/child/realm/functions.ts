import { decode } from "../../codec/codec.ts";
import type { Bytes } from "../../protocol.ts";
import { captured } from "../intrinsics/captured.ts";
import type { HostCalls } from "../run/host_calls.ts";
import { shape } from "../view/shape.ts";

type Plain = Record<string, unknown>;

export interface RealmFunctionsOptions {
  /** "alias.name" or a bare name. */
  readonly functions: readonly string[];
  /** Codec bytes of "alias.name" to constant. */
  readonly constants: Bytes;
  readonly calls: HostCalls;
  /** The module that a value belongs to; null if none does. */
  readonly moduleOf: (value: unknown) => string | null;
}

/** The host's functions and constants under their names, and the two helpers that run in the realm itself. */
export function realmFunctions({ functions, constants, calls, moduleOf }: RealmFunctionsOptions): Plain {
  const roots: Plain = Object.create(null);
  const byName: Record<string, unknown> = Object.create(null);
  for (const name of functions) {
    const f = (...args: unknown[]): unknown => calls.call(name, args);
    captured.defineProperty(f, "name", { value: name.slice(name.indexOf(".") + 1) });
    byName[name] = captured.freeze(f);
    place(roots, { name, value: f });
  }
  const fixed = decode(constants);
  if (typeof fixed === "object" && fixed !== null) {
    for (const [name, value] of Object.entries(fixed)) place(roots, { name, value: deepFreeze(value) });
  }
  for (const name in roots) captured.freeze(roots[name]);
  roots["shape"] = captured.freeze((value: unknown) => shape(value));
  if (byName["doc"]) {
    roots["doc"] = captured.freeze((of: unknown) => calls.call("doc", [nameOf(of, { roots, byName, moduleOf })]));
  }
  return roots;
}

interface Known extends Pick<RealmFunctionsOptions, "moduleOf"> {
  readonly roots: Plain;
  readonly byName: Plain;
}

/** Accepts a function, namespace or module of the realm, or its name; anything else is passed on for the host to
 * refuse. A function of a module is described with the module. */
function nameOf(of: unknown, { roots, byName, moduleOf }: Known): unknown {
  if (typeof of !== "function" && (typeof of !== "object" || of === null)) return of;
  for (const name in byName) if (byName[name] === of) return name;
  for (const name in roots) if (roots[name] === of) return name;
  const module = moduleOf(of);
  if (module !== null) return module;
  if (typeof of === "object") return of;
  // Such as print, which is made elsewhere: the host knows it by its name.
  const own = captured.getOwnPropertyDescriptor(of, "name")?.value;
  if (typeof own === "string" && own !== "") return own;
  throw new captured.TypeError("Cannot describe this function: it is not one of the sandbox's");
}

function place(roots: Plain, { name, value }: { readonly name: string; readonly value: unknown }): void {
  const dot = name.indexOf(".");
  if (dot < 0) {
    roots[name] = value;
    return;
  }
  const alias = name.slice(0, dot);
  const root = roots[alias] ??= Object.create(null);
  if (typeof root !== "object" || root === null) throw new TypeError(`Cannot give the realm "${name}": name in use`);
  captured.defineProperty(root, name.slice(dot + 1), { value, enumerable: true });
}

function deepFreeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (!ArrayBuffer.isView(value)) Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
