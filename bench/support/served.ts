import { join } from "node:path";
import type { Program } from "./programs.ts";

const TOKEN = "a-token-of-the-benchmark";

export interface Served extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  readonly token: string;
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Response>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  conversation(): Promise<string>;
  ask(conversation: string, key: string): Promise<number>;
}

export async function startServed(
  program: Program,
  { baseUrl, config, env = {} }: {
    readonly baseUrl: string;
    readonly config: object;
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<Served> {
  const folder = await Deno.makeTempDir({ prefix: "vis-bench-http-" });
  await Deno.writeTextFile(join(folder, "config.jsonc"), JSON.stringify({ localServers: false, ...config }));
  const child = new Deno.Command(program.path, {
    args: [...program.args, "serve", "--port", "0", "--cwd", folder],
    env: { VIS_HOME: folder, VIS_TOKEN: TOKEN, VIS_BASE_URL: baseUrl, VIS_API_KEY: "k", VIS_MODEL: "slow", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const url = await firstLine(child.stdout);
  const request = (path: string, init: RequestInit): Promise<Response> => fetch(new URL(path, url), init);
  const authorization = `Bearer ${TOKEN}`;
  const post: Served["post"] = (path, body, headers = {}) =>
    request(path, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  return {
    pid: child.pid,
    url,
    token: TOKEN,
    post,
    get: (path, headers = {}) => request(path, { headers: { authorization, ...headers } }),
    conversation: async () => (await (await post("/api/v1/conversations", { title: "bench" })).json()).conversationId,
    ask: async (conversation, key) => {
      const begun = performance.now();
      const response = await post(`/api/v1/conversations/${conversation}/messages`, { request: `Count, key=${key}` });
      const result = await response.json();
      if (result.status !== "done" || result.answer !== "It is 3") {
        throw new Error(`Cannot use the server: its query ended otherwise: ${JSON.stringify(result).slice(0, 300)}`);
      }
      return performance.now() - begun;
    },
    [Symbol.asyncDispose]: async () => {
      await ended(child);
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function ended(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGTERM");
  } catch {
    // The process has already ended.
  }
  await child.status;
}

async function firstLine(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error("Cannot use the server: it did not start");
    text += value;
  }
  reader.releaseLock();
  return text.split("\n")[0] ?? "";
}
