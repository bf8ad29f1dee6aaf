import type { Declaration } from "../compiler/declarations.ts";
import { look } from "../realm/captured.ts";
import { classNameOf, isClassText, ownData } from "../view/kinds.ts";

interface KnownFunction {
  readonly kind: "function" | "class";
  readonly source: string;
  readonly requires: readonly string[];
}

type Named = Omit<KnownFunction, "kind"> & { readonly name: string };

interface KnownClass {
  readonly name: string;
  readonly hidden: boolean;
}

/** The text of these functions and classes describes them fully, because no function around them has variables. */
export class KnownFunctions {
  readonly #functions = new look.WeakMap<object, KnownFunction>();
  readonly #classes = new look.WeakMap<object, KnownClass>();

  learn(value: object, made: Named): void {
    const { name, source, requires } = made;
    if (source === "" || look.weakGet(this.#functions, value)) return;
    const text = look.functionText(value);
    if (!sameFunction(text, source)) return;
    this.add(value, { name, source, requires });
  }

  add(value: object, { name, source, requires }: Named): void {
    const kind = isClassText(look.functionText(value)) ? "class" : "function";
    look.weakSet(this.#functions, value, { kind, source, requires });
    const prototype = kind === "class" ? ownData(value, "prototype") : null;
    if (typeof prototype === "object" && prototype !== null) {
      look.weakSet(this.#classes, prototype, { name, hidden: hasPrivateNames(source) });
    }
  }

  made(
    value: object,
    { name, declarations }: { readonly name: string; readonly declarations: readonly Declaration[] },
  ): void {
    for (let i = 0; i < declarations.length; i++) {
      const { name: declared, declaration, source, requires } = declarations[i]!;
      if (declared !== name || typeof value !== "function") continue;
      look.defineProperty(value, "name", look.setPrototypeOf({ value: name, configurable: true }, null));
      if (declaration === "function") this.add(value, { name, source, requires });
    }
  }

  sourceOf(value: object): string | null {
    const known = this.find(value);
    return known?.kind === "function" ? known.source : null;
  }

  find(value: object): KnownFunction | undefined {
    return look.weakGet(this.#functions, value) as KnownFunction | undefined;
  }

  classOf(value: object): { readonly name: string } | { readonly reason: string } {
    let name = "", at = look.prototypeOf(value);
    for (let i = 0; at !== null && i < 50 && !look.isProxy(at); i++) {
      const known = look.weakGet(this.#classes, at) as KnownClass | undefined;
      if (!known) break;
      name ||= known.name;
      if (known.hidden) return { reason: `an instance of ${known.name}, which has private fields` };
      at = look.prototypeOf(at);
    }
    if (name) return { name };
    return { reason: `an instance of ${classNameOf(value) || "a prototype"} that no block declares at its top level` };
  }
}

/** A declaration runs without its name (`f=function(a) {…}`), so this function compares texts from the parameters
 * on. */
function sameFunction(text: string, source: string): boolean {
  if (text === source) return true;
  const head = look.slice(source, 0, 5);
  if (head === "class" || isClassText(text)) return false;
  const a = look.indexOf(text, "("), b = look.indexOf(source, "(");
  return a >= 0 && b >= 0 && isKeyword(text, a) && isKeyword(source, b) &&
    look.slice(text, a) === look.slice(source, b);
}

function isKeyword(text: string, end: number): boolean {
  const at = look.indexOf(text, "function");
  return at >= 0 && at < end;
}

function hasPrivateNames(source: string): boolean {
  let quote = 0;
  for (let i = 0; i < source.length; i++) {
    const c = look.charCodeAt(source, i), next = look.charCodeAt(source, i + 1);
    if (quote !== 0) {
      if (c === 92) i++;
      else if (c === quote) quote = 0;
    } else if (c === 34 || c === 39 || c === 96) quote = c;
    else if (c === 47 && (next === 47 || next === 42)) {
      const end = look.indexOf(source, next === 47 ? "\n" : "*/", i + 2);
      if (end < 0) return false;
      i = end;
    } else if (c === 35 && isLetter(next)) return true;
  }
  return false;
}

function isLetter(c: number): boolean {
  return (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95 || c === 36 || c > 127;
}
