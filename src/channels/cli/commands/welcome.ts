import { visibleText } from "../../../domain/kit/text.ts";
import type { Io, Services } from "../../channel.ts";

/** `vis` without a terminal: the first steps if nothing is configured, otherwise an overview. Resolves with the exit
 * code. */
export async function welcome(
  { services, io, help }: { readonly services: Services; readonly io: Io; readonly help: () => void },
): Promise<number> {
  const admin = await services.providerAdmin({});
  const { providers, problem, notes } = await admin.providers({ check: false, signal: new AbortController().signal });
  if (problem !== "" && providers.length === 0) {
    io.stdout(`${visibleText(problem)}\n\nvis help lists all commands.\n`);
    return 0;
  }
  help();
  const root = providers.find((one) => one.root);
  const uses = root ? [`uses ${root.name}${root.model === null ? "" : ` ${root.model}`}: vis run "…"`] : [];
  for (const line of [...uses, ...notes, ...problem === "" ? [] : [problem]]) {
    io.stderr(`vis · ${visibleText(line)}\n`);
  }
  return 0;
}
