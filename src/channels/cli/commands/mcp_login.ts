import { UsageError } from "../../../domain/errors.ts";
import { visibleText } from "../../../domain/text/visible_text.ts";
import type { CommandInput } from "../input/command_input.ts";

/** `vis mcp login` and `vis mcp logout`: the extension that uses the servers does it. */
export async function mcpLoginCommand(
  words: readonly string[],
  { services, io }: Omit<CommandInput<unknown>, "flags">,
): Promise<number> {
  const admin = await services.extensionAdmin({});
  const code = await admin.run(
    words,
    { print: (text) => io.stderr(visibleText(text)), ask: (question) => io.askLine(question) },
  );
  if (code === null) throw new UsageError("Cannot log in to servers: no extension uses them");
  return code;
}
