import { parse } from "acorn";
import type { SucraseTransform } from "./sucrase_loader.ts";

interface Fault {
  readonly line: number;
  readonly message: string;
}

/** A file may be a module, or a script of Node or of a page. */
const KINDS = ["module", "commonjs", "script"] as const;
/** After the colon of a name of JSX, the stripper reads no dash: `<a:b-c d:e-f={1}/>`. */
const DASHED = /([\w$]:[\w$]+)((?:-+[\w$]+)+)/g;
/** A letter for the parsers, which looks like a dash and is in no code. */
const DASH = "\ua7f7";

/** The first fault of a file of JavaScript or TypeScript; null if one of the parsers that know its kind reads it. None
 * of them knows every version of the language, so that only what all refuse is a fault. */
export function moduleTextFault(path: string, text: string, loadSucrase: () => SucraseTransform): Fault | null {
  const isTyped = /\.[cm]?tsx?$/i.test(path);
  const plain = isTyped ? null : scriptFault(text);
  // Newer than the parsers, and like another import in all else.
  text = text.replace(DASHED, (_, name: string, rest: string) => name + rest.replaceAll("-", DASH));
  text = text.replace(/^(\s*import\s+)(?:defer|source)(?=\s+[*\w{])(?!\s+from\b)/gm, "$1");
  if (!isTyped && plain === null) return null;
  // In a file of JSX, what is no JavaScript may be right.
  const faults: Fault[] = plain === null || /x$/i.test(path) ? [] : [plain];
  const all = isTyped ? [/x$/i.test(path) ? ["typescript", "jsx"] as const : ["typescript"] as const] : [
    ["jsx"] as const,
    ["jsx", "flow"] as const,
    ["jsx", "typescript"] as const,
  ];
  for (const transforms of all) {
    let code = "";
    const found = strippedFault(
      text,
      () => code = loadSucrase()(text, { transforms: [...transforms], disableESTransforms: true }).code,
    );
    if (found === null) return declaredTwice(code);
    faults.push(found);
  }
  return faults.reduce<Fault | null>((last, one) => one.line > (last?.line ?? 0) ? one : last, null);
}

/** The stripper does not know which names are declared. Its code may be newer than the other parser, which therefore
 * has no other say. */
function declaredTwice(code: string): Fault | null {
  const faults = scriptFaults(code);
  const isTwice = faults.every((one) => /^Identifier '.*' has already been declared$/.test(one?.message ?? ""));
  return isTwice ? faults[0] ?? null : null;
}

function scriptFault(text: string): Fault | null {
  return scriptFaults(text).find((one) => one !== null) ?? null;
}

/** A fault for each kind of file; none if it can be of one of them. */
function scriptFaults(text: string): readonly (Fault | null)[] {
  const faults: (Fault | null)[] = [];
  for (const sourceType of KINDS) {
    try {
      parse(text, { ecmaVersion: "latest", sourceType, allowHashBang: true });
      return [];
    } catch (error) {
      if (!(error instanceof SyntaxError)) return []; // nested too deeply to be read
      faults.push(faultOf(error));
    }
  }
  return faults;
}

function strippedFault(text: string, run: () => unknown): Fault | null {
  try {
    run();
    return null;
  } catch (error) {
    const found = error instanceof Error && !(error instanceof RangeError) ? faultOf(error) : null;
    return found !== null && found.line <= text.split("\n").length ? found : null;
  }
}

/** Both parsers have the place in their message only. */
function faultOf({ message }: Error): Fault | null {
  // deno-lint-ignore vis/no-message-parsing -- there is no other text of the fault
  const [, what, line] = /^(?:Error transforming .*?: )?(.*?)\s*\((\d+):\d+\)$/s.exec(message) ?? [];
  return what === undefined ? null : { line: Number(line), message: what.replaceAll(DASH, "-") };
}
