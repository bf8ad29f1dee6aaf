import { schemaText } from "@vis/extension";
import { aliasName } from "./tool_names.ts";

/** A tool as its server describes it. */
export interface McpTool {
  readonly name: string;
  /** Its name after the dot of the alias. */
  readonly symbol: string;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  /** Whether the server says that it destroys something. */
  readonly destructive?: boolean;
}

const MAX_DOC = 300;

/** `github.create_issue(args: {title: string}): Promise<unknown>` */
export function toolSignature(call: string, tool: McpTool): string {
  return `${call}(${argumentText(tool)}): Promise<${resultType(tool)}>`;
}

/** How to call a tool: through its server's alias if this query has it. */
export function toolUsage(
  tool: McpTool,
  { server, bound }: { readonly server: string; readonly bound: boolean },
): string {
  if (bound) return toolSignature(`${aliasName(server)}.${tool.symbol}`, tool);
  const args = [JSON.stringify(server), JSON.stringify(tool.name), argumentText(tool)].filter((one) => one !== "");
  return `mcp.call(${args.join(", ")})`;
}

/** `args: {title: string}`, `args?` if nothing is required, empty if there are no arguments to describe. */
export function argumentText({ inputSchema }: McpTool): string {
  const type = schemaText(inputSchema, { notes: true });
  if (type === "object" || type === "unknown") return hasRequired(inputSchema) ? "args: object" : "";
  return `args${hasRequired(inputSchema) ? "" : "?"}: ${type}`;
}

export function resultType({ outputSchema }: McpTool): string {
  return outputSchema === undefined ? "unknown" : schemaText(outputSchema, { notes: true });
}

/** The first lines of the description. */
export function toolDoc({ description, name }: McpTool): string {
  const text = description.slice(0, 4 * MAX_DOC).replace(/\s+/g, " ").trim();
  return (text.length > MAX_DOC ? `${text.slice(0, MAX_DOC)}…` : text) || `The tool ${name}.`;
}

export function requiredKeys(schema: unknown): readonly string[] {
  const required: unknown = typeof schema === "object" && schema !== null ? Reflect.get(schema, "required") : [];
  return Array.isArray(required) ? required.filter((key) => typeof key === "string") : [];
}

const hasRequired = (schema: unknown): boolean => requiredKeys(schema).length > 0;

/** How data differs from a schema at its top level, "" if it does not. No schema of a server is compiled. */
export function differenceOf(schema: unknown, data: unknown): string {
  const { type, properties } = Object(schema);
  if (!fits(type, data)) return `it is not of the type ${type}`;
  if (typeof data !== "object" || data === null || Array.isArray(data)) return "";
  const missing = requiredKeys(schema).find((key) => !Object.hasOwn(data, key));
  if (missing !== undefined) return `${missing} is missing`;
  const wrong = Object.entries(Object(properties)).find(([key, one]) =>
    Object.hasOwn(data, key) && !fits(Object(one).type, Reflect.get(data, key))
  );
  return wrong ? `${wrong[0]} is not of the type ${Object(wrong[1]).type}` : "";
}

function fits(type: unknown, value: unknown): boolean {
  const types = [type].flat().filter((one) => typeof one === "string");
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return types.length === 0 || types.includes(kind) || types.includes("integer") && Number.isInteger(value);
}
