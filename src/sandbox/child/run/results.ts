import { addResultPrototype } from "../../codec/intrinsics.ts";
import { captured, look } from "../realm/captured.ts";
import type { Misnamed } from "../setup.ts";
import { ownData } from "../view/kinds.ts";

interface Part {
  readonly prototype: object;
  readonly inner: Readonly<Record<string, Part>>;
}

/** Objects of results throw for names that only similar tools have. The engine looks up a name in the prototype only if
 * an object lacks the name. */
export class Results {
  readonly #parts: Record<string, Part> = look.create(null);

  constructor(misnamed: Misnamed) {
    for (const name in misnamed) this.#parts[name] = partOf(name, misnamed[name]!);
  }

  mark(name: string, value: unknown): void {
    const part = this.#parts[name];
    if (part) markAll(part, value);
  }
}

function markAll(part: Part, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (!look.isArray(value)) return markOne(part, value);
  for (let i = 0; i < value.length; i++) markOne(part, ownData(value, i));
}

function markOne(part: Part, value: unknown): void {
  if (typeof value !== "object" || value === null || look.prototypeOf(value) !== look.object) return;
  look.setPrototypeOf(value, part.prototype);
  for (const key in part.inner) markAll(part.inner[key]!, ownData(value, key));
}

function partOf(of: string, misnamed: Readonly<Record<string, string>>): Part {
  const own: Record<string, string> = look.create(null);
  const below: Record<string, Record<string, string>> = look.create(null);
  for (const path in misnamed) {
    const dot = path.indexOf(".");
    if (dot < 0) own[path] = misnamed[path]!;
    else {(below[path.slice(0, dot)] ??= look.create(null) as Record<string, string>)[path.slice(dot + 1)] =
        misnamed[path]!;}
  }
  const inner: Record<string, Part> = look.create(null);
  for (const key in below) inner[key] = partOf(`${of}.${key}`, below[key]!);
  const prototype = refusing(of, own);
  addResultPrototype(`:${of}`, prototype);
  return { prototype, inner };
}

/** A block could add a trap to `Object.prototype`, so the handler has no prototype. */
function refusing(of: string, names: Readonly<Record<string, string>>): object {
  const handler: ProxyHandler<object> = look.create(null);
  handler.get = (target, key, receiver): unknown => {
    const instead = typeof key === "string" ? names[key] : undefined;
    if (instead === undefined || typeof key !== "string") return captured.get(target, key, receiver);
    throw new captured.TypeError(`A result of ${of} has no ${key}: use ${instead}`);
  };
  return new Proxy(look.freeze(look.create(look.object)), look.freeze(handler));
}
