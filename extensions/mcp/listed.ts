import type { Client } from "@modelcontextprotocol/client";

const METHOD_NOT_FOUND = -32601;

/** What a server lists; nothing if it does not offer any, of which the library would print a note to standard output, or
 * if it has no such list: many servers have resources and no templates. */
export async function listed<T>(
  client: Client,
  { of, list }: { readonly of: "resources" | "prompts"; readonly list: () => Promise<readonly T[]> },
): Promise<readonly T[]> {
  if (!client.getServerCapabilities()?.[of]) return [];
  try {
    return await list();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === METHOD_NOT_FOUND) return [];
    throw error;
  }
}
