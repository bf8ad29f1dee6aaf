import type { PreparedBlock } from "./child/prepare_block.ts";

/** More than a model writes: parsing it again is not worth the main process's time. */
const MAX_CHARS = 1 << 20;
/** Beside this file in an executable; built, as seen from src/sandbox/ and from a bundle of the program. */
const SUCRASE = ["./sucrase.js", "../../build/sandbox/sucrase.js", "../sandbox/sucrase.js"];

/** Names that a block would have defined, for one whose child died before it could say. The parser is loaded only
 * then. Never rejects. */
export async function declaredNames(code: string): Promise<string[]> {
  if (code.length > MAX_CHARS) return [];
  try {
    const block = await parsed(code);
    return block.ok ? block.declarations.map(({ name }) => name) : [];
  } catch {
    return [];
  }
}

async function parsed(code: string): Promise<PreparedBlock> {
  const [{ prepareBlock }, { sucraseLoader }] = await Promise.all([
    import("./child/prepare_block.ts"),
    import("./child/sucrase_loader.ts"),
  ]);
  return prepareBlock(code, { loadSucrase: () => sucraseLoader({ text: sucraseText() })() });
}

function sucraseText(): string {
  for (const path of SUCRASE) {
    try {
      return Deno.readTextFileSync(new URL(path, import.meta.url));
    } catch { /* not there: the next */ }
  }
  throw new Error("Cannot strip types: sucrase.js is missing");
}
