import { type PromptFile, promptFiles } from "../../channels/tui/prompt_files.ts";
import { oneLine, visibleText } from "../../domain/kit/text.ts";
import { AppExtensionAdmin } from "../extensions/extension_admin.ts";
import type { SessionParts } from "../session/open_session.ts";
import type { Settings } from "../settings/settings.ts";

/** A prompt of the user takes precedence over a request of an extension with the same name. */
export async function offeredPrompts(
  settings: Settings,
  { parts, extension, root, userHome = null }: {
    readonly parts: SessionParts;
    readonly extension: readonly string[] | undefined;
    readonly root: string | null;
    readonly userHome?: string | null;
  },
): Promise<readonly PromptFile[]> {
  const { workspace, home } = settings;
  const { prompts } = await promptFiles({ workspace, home, userHome });
  // `vis doctor` reports why Vis cannot read extensions.
  const offered = await new AppExtensionAdmin(settings, parts).requests(extension, { root }).catch(() => []);
  const all = [
    ...prompts,
    ...offered.map(({ name, doc, text }) => ({ name, detail: oneLine(visibleText(doc), 80), text })),
  ];
  return all.filter(({ name }, at) => all.findIndex((one) => one.name === name) === at);
}
