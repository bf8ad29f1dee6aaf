import { ProtocolError, UnauthorizedError } from "@modelcontextprotocol/client";
import { type EnvironmentView, nearestName } from "@vis/extension";
import { wholeResult } from "./answers.ts";
import { httpStatusOf } from "./connect.ts";
import { LoginError } from "./login/login_error.ts";
import { ServerError } from "./server_error.ts";
import type { ServerLink } from "./server_link.ts";
import { differenceOf, type McpTool, requiredKeys, toolUsage } from "./tool.ts";
import { resultMessage, toolData } from "./tool_result.ts";

/** Calls a tool by its own name or by its symbol. A failure shows its signature. */
export async function callTool(
  env: EnvironmentView,
  { link, tool: name, args, bound }: {
    readonly link: ServerLink;
    readonly tool: string;
    readonly args: Readonly<Record<string, unknown>>;
    /** Whether this query has the server's alias. */
    readonly bound: boolean;
  },
): Promise<unknown> {
  const tool = findTool(await link.tools(env), { link, name });
  const usage = toolUsage(tool, { server: link.name, bound });
  const missing = requiredKeys(tool.inputSchema).filter((key) => !Object.hasOwn(args, key));
  if (missing.length > 0) throw failure(tool, { usage, why: `${missing.join(", ")} is missing` });
  if (tool.destructive && !link.config.destructive) await askUser(env, { server: link.name, tool: tool.name, args });
  const { result, wrong } = await request(env, { link, tool, args });
  if (wrong !== undefined) throw failure(tool, { usage, why: wrong });
  if (Object(result).isError === true) {
    throw failure(tool, { usage, why: resultMessage(result) || "the server says no more" });
  }
  const data = Object(result).structuredContent ?? undefined;
  const difference = data === undefined || tool.outputSchema === undefined ? "" : differenceOf(tool.outputSchema, data);
  if (difference !== "") env.note?.(`The result of ${tool.name} is not what its server describes: ${difference}`);
  return toolData(result);
}

/** The result, or why the server says that the arguments are wrong. Once the call was sent, an error never implies that
 * the tool did not run, unless the server refused the request. */
async function request(
  env: EnvironmentView,
  { link, tool: { name }, args }: {
    readonly link: ServerLink;
    readonly tool: McpTool;
    readonly args: Readonly<Record<string, unknown>>;
  },
): Promise<{ readonly result?: unknown; readonly wrong?: string }> {
  let mayHaveRun = false;
  try {
    return await link.request(env, async (client, options) => {
      mayHaveRun = true;
      try {
        return { result: wholeResult(await client.callTool({ name, arguments: { ...args } }, options)) };
      } catch (error) {
        // The server's message about the arguments is most useful next to the signature.
        if (error instanceof ProtocolError && error.code === INVALID_PARAMS) return { wrong: error.message };
        mayHaveRun = !isRefusal(error);
        throw error;
      }
    });
  } catch (error) {
    if (!mayHaveRun || !(error instanceof ServerError)) throw error;
    throw new Error(
      `Cannot finish ${name} of MCP server ${link.name}: ${error.why}; it may have run, so check before you call it again`,
      { cause: error },
    );
  }
}

/** Whether the server did not run the tool. */
function isRefusal(error: unknown): boolean {
  if (error instanceof UnauthorizedError || error instanceof LoginError) return true;
  if (error instanceof ProtocolError) return REFUSALS.includes(error.code);
  const status = httpStatusOf(error);
  return status !== null && status >= 300 && status < 500 && status !== REQUEST_TIMEOUT;
}

/** Rejects if the user does not allow a tool that its server marks as destructive. */
async function askUser(
  { approve }: EnvironmentView,
  { server, tool, args }: { readonly server: string; readonly tool: string; readonly args: unknown },
): Promise<void> {
  const given = JSON.stringify(args);
  const scope = `the tool ${tool} of the MCP server ${server}`;
  const allowing =
    `vis config set extensions.config.vis.mcp.servers.${server}.destructive true allows it without a question`;
  if (given.length > MAX_SHOWN) {
    throw new Error(
      `Cannot call ${scope}: the user has to read its arguments, and they have ${given.length} characters, the limit is ${MAX_SHOWN}; pass less at once; ${allowing}`,
    );
  }
  const { allowed = false, reason = "nobody can be asked here" } = await approve?.({
    what: `call ${scope} with ${given}`,
    why: "The server says that this tool destroys something.",
    scope,
  }) ?? {};
  if (allowed) return;
  throw new Error(
    `Cannot call ${scope}, which is marked as destructive: ${reason}; ${allowing}`,
  );
}

const MAX_SHOWN = 3_000;
const MAX_WHY = 4_000, INVALID_PARAMS = -32602, REQUEST_TIMEOUT = 408;
/** No JSON, no request, no such method. */
const REFUSALS: readonly number[] = [-32700, -32600, -32601];

function findTool(
  tools: readonly McpTool[],
  { link, name }: { readonly link: ServerLink; readonly name: string },
): McpTool {
  const found = tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.symbol === name);
  if (found) return found;
  const names = tools.map((tool) => tool.name);
  const near = nearestName(name, names) ?? names.find((one) => one.includes(name)) ?? null;
  const hint = near !== null ? `did you mean ${near}` : `await mcp.tools("${link.name}") lists all`;
  throw new Error(
    `Cannot call ${name} of MCP server ${link.name}: it has ${tools.length} tools and none of that name; ${hint}`,
  );
}

function failure(
  { name }: McpTool,
  { usage, why }: { readonly usage: string; readonly why: string },
): Error {
  const text = why.length > MAX_WHY ? `${why.slice(0, MAX_WHY)}…` : why;
  return new Error(`Cannot finish ${name}: ${text.trimEnd()}; usage: ${usage}`);
}
