import { CORE_INSTRUCTIONS } from "./_core_instructions.ts";

/** What the model may know about its environment. Read once per query, so that the prompt stays byte-identical. */
export interface PromptEnvironment {
  readonly cwd: string;
  readonly platform: string;
  /** YYYY-MM-DD. */
  readonly date: string;
}

/** The system message. The loop, the inspectors and `vis prompt` all use this function, and nothing else builds one. */
export function assembleSystemPrompt(
  { environment, instructions, extensions }: {
    readonly environment: PromptEnvironment;
    /** The caller's own instructions; "" if there are none. */
    readonly instructions: string;
    /** Rendered blocks of the active extensions, in order. */
    readonly extensions: readonly { readonly block: string }[];
  },
): string {
  const blocks = extensions.map(({ block }) => block.trim()).filter((block) => block !== "");
  return [
    CORE_INSTRUCTIONS,
    environmentBlock(environment),
    instructions.trim() === "" ? "" : `# Instructions of the caller\n${instructions.trim()}`,
    blocks.length === 0 ? "" : `# Extensions\n${blocks.join("\n\n")}`,
  ].filter((part) => part !== "").join("\n\n");
}

function environmentBlock({ cwd, platform, date }: PromptEnvironment): string {
  const lines = Object.entries({ cwd, platform, date }).flatMap(([key, value]) => {
    const text = value.replace(/\s+/g, " ").trim();
    return text === "" ? [] : [`${key}: ${text}`];
  });
  return `# Environment\n${lines.join("\n")}`;
}
