import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { type Reply, type Tool, type Wire, WIRES } from "./wires.ts";

const READS = ["Read", "read", "read_file"], RUNS = ["Bash", "bash", "exec_command", "shell_command", "shell"];
const LAST = "All files were read. DONE.";

export interface ModelRequest {
  readonly arrived: number;
  replied: number;
  readonly bytes: number;
  /** If false, the request is no round; for example, an agent asks for a title. */
  readonly main: boolean;
  /** A prompt cache compares `compared` bytes. The previous round had the first `shared` of these bytes. */
  readonly compared: number;
  readonly shared: number;
}

export interface ScriptedModel extends AsyncDisposable {
  readonly base: string;
  readonly requests: readonly ModelRequest[];
}

export function startScriptedModel(
  { wire, rounds, folder }: { readonly wire: Wire; readonly rounds: number; readonly folder: string },
): ScriptedModel {
  const { path, tools, parts, reply, named } = WIRES[wire];
  const requests: ModelRequest[] = [];
  let before: readonly string[] = [];
  let round = 0;
  const answer = async (request: Request): Promise<Response> => {
    const raw = new Uint8Array(await request.arrayBuffer());
    const arrived = performance.now();
    const at = new URL(request.url).pathname;
    if (request.method !== "POST" || at !== path) return Response.json(otherAnswer(at, raw.length));
    const text = new TextDecoder().decode(unpacked(raw, request.headers.get("content-encoding")));
    const body = JSON.parse(text);
    const tool = readingTool(tools(body));
    const main = wire === "vis" || tool !== null;
    const now = main ? parts(body).map(comparable) : [];
    const compared = now.reduce((sum, part) => sum + part.length, 0);
    const made = { arrived, replied: 0, bytes: text.length, main, compared, shared: sharedLength(before, now) };
    if (main) before = now;
    if (main) round++;
    const said: Reply = !main ? { text: "Read files" } : replyOf(round, { tool, rounds, folder, wire });
    const events = reply(said, Math.ceil(text.length / 4)).map((event) => {
      const line = named ? `event: ${Reflect.get(event, "type")}\n` : "";
      return `${line}data: ${JSON.stringify(event)}\n\n`;
    });
    const stream = `${events.join("")}${named ? "" : "data: [DONE]\n\n"}`;
    requests.push(made);
    made.replied = performance.now();
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  return {
    base: `http://127.0.0.1:${server.addr.port}`,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function replyOf(
  round: number,
  { tool, rounds, folder, wire }: {
    readonly tool: Tool | null;
    readonly rounds: number;
    readonly folder: string;
    readonly wire: Wire;
  },
): Reply {
  const file = `file${round}.txt`;
  if (wire === "vis") {
    return {
      text: JSON.stringify(
        round > rounds ? { thinking: "done", final: { answer: LAST } } : {
          thinking: "read",
          code: [{ expr: `const t${round} = await fs.readFile("${file}"); t${round}`, timeMs: 1000 }],
        },
      ),
    };
  }
  if (round > rounds || tool === null) return { text: LAST };
  return { tool, args: argumentsFor(tool, { file, folder }) };
}

function argumentsFor(
  { schema }: Tool,
  { file, folder }: { readonly file: string; readonly folder: string },
): Readonly<Record<string, unknown>> {
  const required: readonly string[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const keys = Object.keys(Object(schema["properties"]));
  const path = keys.find((key) => /^(?:path|file_?path)$/i.test(key));
  const command = keys.find((key) => /^(?:cmd|command)$/.test(key));
  const given: Record<string, unknown> = {};
  for (const key of required) given[key] = /workdir|cwd/i.test(key) ? folder : `read ${file}`;
  if (path !== undefined) given[path] = `${folder}/${file}`;
  else if (command !== undefined) {
    const isList = Object(Object(schema["properties"])[command]).type === "array";
    given[command] = isList ? ["bash", "-lc", `cat ${file}`] : `cat ${file}`;
  }
  return given;
}

function readingTool(tools: readonly Tool[]): Tool | null {
  for (const wanted of [...READS, ...RUNS]) {
    const found = tools.find(({ name }) => name === wanted);
    if (found) return found;
  }
  return null;
}

function unpacked(raw: Uint8Array, coding: string | null): Uint8Array {
  if (coding === "gzip") return gunzipSync(raw);
  return coding === "zstd" ? zstdDecompressSync(raw) : raw;
}

/** The marks of caches are not tokens, so they do not count. */
function comparable(part: unknown): string {
  return JSON.stringify(part, (key, value) => key === "cache_control" ? undefined : value) ?? "null";
}

function sharedLength(before: readonly string[], now: readonly string[]): number {
  let shared = 0;
  for (const [at, part] of now.entries()) {
    const other = before[at] ?? "";
    if (part === other) {
      shared += part.length;
      continue;
    }
    let same = 0;
    while (same < part.length && part[same] === other[same]) same++;
    return shared + same;
  }
  return shared;
}

function otherAnswer(path: string, bytes: number): object {
  if (path.endsWith("/count_tokens")) return { input_tokens: Math.ceil(bytes / 4) };
  const model = { id: "bench", object: "model", created: 1, owned_by: "bench" };
  return path.endsWith("/models") ? { object: "list", data: [model] } : {};
}
