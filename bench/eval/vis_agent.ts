import type { QueryResult } from "../../src/domain/query/query_schemas.ts";
import { replyJson } from "../../tests/helpers/scripted_provider.ts";
import { startOpenAiMock } from "../../tests/helpers/wires/openai_mock.ts";
import type { Program } from "../support/programs.ts";

/** The provider that plays the scripts of the tasks. */
export const SCRIPTED = "scripted";

export interface AgentOptions {
  readonly program: Program;
  readonly provider: string;
  /** Null: the default of the provider. */
  readonly model: string | null;
  /** For each request. */
  readonly timeoutSeconds: number;
}

export interface Asked {
  readonly request: string;
  /** Blocks for the scripted provider; no model sees them. */
  readonly script: readonly string[];
  readonly workspace: string;
  readonly database: string;
  /** Settings and checkpoints for the scripted provider; others use those of the caller. */
  readonly home: string;
  readonly contextFile: string | null;
  readonly conversationId: string | null;
}

const MORE_TIME_MS = 60_000;
const BLOCK_MS = 60_000;

/** Asks `vis run` as a user would. Throws what it said if it printed no result. */
export async function askVis(options: AgentOptions, asked: Asked): Promise<QueryResult> {
  if (options.provider !== SCRIPTED) {
    const model = options.model === null ? [] : ["--model", options.model];
    return await run(options, asked, { args: ["--provider", options.provider, ...model], env: {} });
  }
  const script = [...asked.script];
  const mock = await startOpenAiMock({
    handler: () => {
      const code = script.shift();
      if (code === undefined) return { status: 400, error: { message: "The script of this task has ended" } };
      const reply = JSON.parse(replyJson(code));
      return JSON.stringify({ ...reply, code: [{ expr: code, timeMs: BLOCK_MS }] });
    },
  });
  try {
    const env = { ...NO_SETTINGS, VIS_HOME: asked.home, VIS_BASE_URL: mock.baseUrl, VIS_MODEL: SCRIPTED };
    return await run(options, asked, { args: [], env });
  } finally {
    await mock.close();
  }
}

/** What the caller's shell may have set for their own vis. */
const NO_SETTINGS = { VIS_API_KEY: "", OPENAI_API_KEY: "", VIS_PROVIDER: "", VIS_DB: "", VIS_LOG: "" };

async function run(
  { program, timeoutSeconds }: AgentOptions,
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
      request,
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
