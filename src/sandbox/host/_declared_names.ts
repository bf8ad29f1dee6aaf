import { sucraseText } from "../modules/sucrase_text.ts";
import type { PreparedBlock } from "../child/prepare/prepare_block.ts";

/** Longer than what a model writes; parsing it again is not worth the main process's time. */
const MAX_CHARS = 1 << 20;
/** Names that a block would have defined, for a block whose child died before it could report them. Loads the parser
 * only then. Never rejects. */
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
    import("../child/prepare/prepare_block.ts"),
    import("../child/prepare/sucrase_loader.ts"),
  ]);
  return prepareBlock(code, { loadSucrase: () => sucraseLoader({ text: sucraseText() })() });
}
