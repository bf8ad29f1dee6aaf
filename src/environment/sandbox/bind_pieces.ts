import type { Sandbox } from "../../sandbox/sandbox.ts";

/** Binds a text of any size without holding it: each piece is sent when the child has taken the one before. */
export async function bindPieces(
  sandbox: Sandbox,
  { name, pieces }: { readonly name: string; readonly pieces: AsyncIterable<Uint8Array> },
): Promise<void> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for await (const piece of pieces) {
    const text = decoder.decode(piece, { stream: true });
    if (text !== "") await sandbox.bind(name, text, { user: true, part: "more" });
  }
  await sandbox.bind(name, decoder.decode(), { user: true, part: "last" });
}
