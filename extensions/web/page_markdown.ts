import { MarkdownWriter, type PageLink } from "./markdown_writer.ts";
import { readTokens } from "./page_tokens.ts";

export interface PageText {
  readonly title: string;
  readonly text: string;
  readonly links: readonly PageLink[];
  readonly truncated: boolean;
}

/** The readable text of a page as Markdown. */
export async function pageMarkdown(
  page: string,
  { url, maxChars, signal }: {
    readonly url: URL;
    readonly maxChars: number;
    readonly signal: AbortSignal | undefined;
  },
): Promise<PageText> {
  const writer = new MarkdownWriter({ base: url, maxChars });
  await readTokens(page, writer, { signal });
  const text = writer.markdown();
  return { title: writer.title, text, links: writer.links(), truncated: writer.truncated };
}
