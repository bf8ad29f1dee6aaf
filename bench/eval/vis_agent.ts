import type { QueryResult } from "../../src/domain/query/query_schemas.ts";
import { replyJson } from "../../tests/helpers/scripted_provider.ts";
import { startOpenAiMock } from "../../tests/helpers/wires/openai_mock.ts";
import type { Program } from "../support/programs.ts";

export const SCRIPTED = "scripted";

export interface AgentOptions {
  readonly program: Program;
  readonly provider: string;
  readonly model: string | null;
  readonly format: "json" | "ts";
  readonly home: string | null;
  readonly timeoutSeconds: number;
}

export interface Asked {
  readonly request: string;
  /** Only the scripted provider plays these blocks; models do not see them. */
  readonly script: readonly string[];
  readonly workspace: string;
  readonly database: string;
  readonly home: string;
  readonly contextFile: string | null;
  readonly conversationId: string | null;
}

const MORE_TIME_MS = 60_000;
const BLOCK_MS = 60_000;
const AS_FENCES = "Reply with TypeScript in ```ts fences instead of a JSON object; finish with await answer(value).";

export async function askVis(options: AgentOptions, asked: Asked): Promise<QueryResult> {
  if (options.provider !== SCRIPTED) {
    const model = options.model === null ? [] : ["--model", options.model];
    const env: Readonly<Record<string, string>> = options.home === null ? {} : { VIS_HOME: options.home };
    return await run(options, asked, { args: ["--provider", options.provider, ...model], env });
  }
  const replies = asked.script.map((code) => {
    if (options.format === "ts") return `Next:\n\`\`\`ts\n${code}\n\`\`\``;
    return JSON.stringify({ ...JSON.parse(replyJson(code)), code: [{ expr: code, timeMs: BLOCK_MS }] });
  });
  const mock = await startScript(replies);
  try {
    const env = { ...NO_SETTINGS, VIS_HOME: options.home ?? asked.home, ...mock.env };
    return await run(options, asked, { args: [], env });
  } finally {
    await mock.close();
  }
}

export async function startScript(
  replies: readonly string[],
): Promise<{ readonly env: Readonly<Record<string, string>>; readonly close: () => Promise<void> }> {
  const script = [...replies];
  const mock = await startOpenAiMock({
    handler: () => script.shift() ?? { status: 400, error: { message: "The script of this task has ended" } },
  });
  return { env: { VIS_BASE_URL: mock.baseUrl, VIS_MODEL: SCRIPTED }, close: () => mock.close() };
}

/** The caller's shell may have set these variables for other runs of Vis. */
export const NO_SETTINGS = { VIS_API_KEY: "", OPENAI_API_KEY: "", VIS_PROVIDER: "", VIS_DB: "", VIS_LOG: "" };

async function run(
  { program, timeoutSeconds, format }: AgentOptions,
  { request, workspace, database, contextFile, conversationId }: Asked,
  { args, env }: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> },
): Promise<QueryResult> {
  const context = contextFile === null ? [] : ["--context", contextFile];
  const conversation = conversationId === null ? [] : ["--conversation", conversationId];
  const limits = ["--timeout", `${timeoutSeconds}s`, "--db", database, "--cwd", workspace];
  const { code, stdout, stderr } = await new Deno.Command(program.path, {
    args: [
      ...program.args,
      "run",
      "--output",
      "json",
      "--quiet",
      ...limits,
      ...args,
      ...context,
      ...conversation,
      format === "ts" ? `${request}\n\n${AS_FENCES}` : request,
    ],
    env: { ...env, NO_COLOR: "1" },
    signal: AbortSignal.timeout(timeoutSeconds * 1000 + MORE_TIME_MS),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const [out = "", said = ""] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes).trim());
  if (out === "") throw new Error(`Cannot read a result of vis run, which ended with ${code}: ${said.slice(-300)}`);
  return JSON.parse(out);
}
