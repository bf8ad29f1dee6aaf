/** The parts of the extension that depend on the configuration; loads nothing. */
import type { EnvironmentView } from "@vis/extension";

interface Servers {
  readonly servers?: Readonly<Record<string, { readonly disabled?: boolean }>>;
}

const names = ({ config }: EnvironmentView): readonly string[] =>
  Object.entries((config as Servers | undefined)?.servers ?? {}).flatMap(([name, { disabled }]) =>
    disabled ? [] : [name]
  );

const live = {
  /** Inactive unless the user configured a server. */
  activate: (env: EnvironmentView): boolean => names(env).length > 0,
  prompt: (env: EnvironmentView): string => {
    const listed = names(env).join(", ");
    if (listed === "") return "";
    return `Tools of MCP servers: ${listed}. First look: await mcp.tools(server, search?) gives their signatures as text. Then await mcp.call(server, tool, args): data, or an error with the signature.`;
  },
};
export default live;
