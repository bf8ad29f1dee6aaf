import { join } from "node:path";
import { type MockHandler, startOpenAiMock } from "../../tests/helpers/wires/openai_mock.ts";
import type { Program } from "./programs.ts";
import { reapedCpuSeconds } from "./process_tree.ts";

export interface VisRunOptions {
  readonly handler: (request: Parameters<MockHandler>[0], pid: number) => ReturnType<MockHandler>;
  readonly workspace: string;
  readonly prompt: string;
  readonly args?: readonly string[];
  readonly config?: Readonly<Record<string, unknown>>;
  readonly anyEnd?: boolean;
  readonly home?: string;
}

/** All times are milliseconds since the start of the process. */
export interface VisRun {
  readonly stdout: string;
  readonly bytes: readonly number[];
  /** A request has arrived when its last byte has. A reply has left when the system has taken its last byte. */
  readonly arrived: readonly number[];
  readonly replied: readonly number[];
  readonly wallMs: number;
  readonly cpuSeconds: number;
}

export async function visRun(program: Program, options: VisRunOptions): Promise<VisRun> {
  const home = options.home ?? await Deno.makeTempDir({ prefix: "vis-bench-home-" });
  const arrived: number[] = [];
  const replied: number[] = [];
  const bytes: number[] = [];
  let pid = 0;
  let begun = 0;
  await using mock = disposable(
    await startOpenAiMock({
      handler: (request) => options.handler(request, pid),
      onRequest: (request) => {
        arrived.push(performance.now() - begun);
        bytes.push(request.bytes);
      },
      onReplied: () => replied.push(performance.now() - begun),
    }),
  );
  try {
    // The server's first response is slower than all others, and must not count as time of Vis.
    await (await fetch(`${mock.baseUrl}/models`)).text();
    if (options.config) {
      await Deno.mkdir(join(home, "vis"), { recursive: true });
      await Deno.writeTextFile(join(home, "vis/config.jsonc"), JSON.stringify(options.config));
    }
    const cpu = reapedCpuSeconds();
    begun = performance.now();
    const process = new Deno.Command(program.path, {
      args: [...program.args, "run", "--cwd", options.workspace, ...options.args ?? [], options.prompt],
      env: { ...NO_SETTINGS, VIS_HOME: join(home, "vis"), VIS_BASE_URL: mock.baseUrl, VIS_MODEL: "bench" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    pid = process.pid;
    const { code, stdout, stderr } = await process.output();
    const wallMs = performance.now() - begun;
    if (code !== 0 && !options.anyEnd) {
      throw new Error(`Cannot measure vis run: it ended with ${code}: ${text(stderr).slice(-2000)}`);
    }
    return { stdout: text(stdout), bytes, arrived, replied, wallMs, cpuSeconds: reapedCpuSeconds() - cpu };
  } finally {
    if (options.home === undefined) await Deno.remove(home, { recursive: true });
  }
}

const NO_SETTINGS = { VIS_API_KEY: "", OPENAI_API_KEY: "", VIS_PROVIDER: "", VIS_DB: "", VIS_LOG: "" };

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function disposable<T extends { close(): Promise<void> }>(server: T): T & AsyncDisposable {
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.close() });
}
