import type { Branch } from "../persistence/store/conversation_store.ts";
import type { Conversations } from "./conversations.ts";

/** A branch to be read, as Markdown or HTML, or its whole conversation as an archive, in pieces. `branches` is shown
 * below the title. */
export async function exported(
  branch: Branch,
  { conversations, format, branches = [] }: {
    readonly conversations: Conversations;
    readonly format: "json" | "md" | "html";
    readonly branches?: readonly string[];
  },
): Promise<Iterable<string>> {
  if (format === "json") {
    const { archiveText } = await import("./archive/archive_text.ts");
    return archiveText(await conversations.records.archive(branch));
  }
  const recording = await conversations.recording(branch);
  if (format === "md") return [(await import("./export/markdown.ts")).exportMarkdown(recording, { branches })];
  return [(await import("./export/html.ts")).exportHtml(recording, { branches })];
}
