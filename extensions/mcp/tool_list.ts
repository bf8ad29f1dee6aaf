import { type McpTool, toolDoc, toolSignature } from "./tool.ts";
import { aliasName } from "./tool_names.ts";

const MAX_CHARS = 40_000;

/** Signatures of tools as text, filtered by all words of `search`; tools that do not fit are only named. */
export function toolList(
  server: string,
  { tools, unusable, bound, search = "" }: {
    readonly tools: readonly McpTool[];
    /** Names of tools that cannot be called. */
    readonly unusable: readonly string[];
    /** Whether `github.create_issue` can be called in this query. */
    readonly bound: boolean;
    readonly search?: string | undefined;
  },
): string {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const found = tools.filter(({ name, description }) => {
    const text = `${name} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const alias = aliasName(server);
  const call = `mcp.call(${JSON.stringify(server)}, tool, args)`;
  const how = bound
    ? `Called as below, or by ${call}.`
    : `Called by ${call} now: await mcp.call(${JSON.stringify(server)}, ${
      JSON.stringify(found[0]?.name ?? "name")
    }, {…}); from the next query on also as below.`;
  const head = `${server}: ${found.length === tools.length ? "" : `${found.length} of `}${tools.length} tools. ${how}`;
  let length = head.length;
  const lines = found.map((tool) => lineOf(alias, tool)).filter((line) => (length += line.length + 1) <= MAX_CHARS);
  const rest = found.length - lines.length;
  const more = rest > 0 ? [`${rest} more do not fit: mcp.tools(${JSON.stringify(server)}, "words to search")`] : [];
  const wrong = unusable.length > 0
    ? [`Not callable, as the server describes them wrongly: ${unusable.join(", ")}`]
    : [];
  return [head, ...lines, ...more, ...wrong].join("\n");
}

function lineOf(alias: string, tool: McpTool): string {
  const named = tool.symbol === tool.name ? "" : ` (its name is ${JSON.stringify(tool.name)})`;
  return `${toolSignature(`${alias}.${tool.symbol}`, tool)}  // ${toolDoc(tool)}${named}`;
}
