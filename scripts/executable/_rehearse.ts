import { join } from "node:path";
import { run } from "../_run.ts";

const FILE = "notes.txt";
const REPLIES = [
  { thinking: "Look at the file.", code: [{ expr: `const text = await fs.readFile("${FILE}"); text`, timeMs: 1000 }] },
  { thinking: "Search.", code: [{ expr: `const hits = await fs.grep("line", "."); hits.length`, timeMs: 1000 }] },
  { thinking: "Done.", final: { answer: "It has two lines." } },
];

export async function rehearse(program: string, args: readonly string[]): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "vis-rehearsal-" });
  let replies = 0;
  const model = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    await request.arrayBuffer();
    const content = JSON.stringify(REPLIES[Math.min(replies++, REPLIES.length - 1)]);
    const choices = [{ index: 0, delta: { role: "assistant", content }, finish_reason: "stop" }];
    const event = { id: "1", object: "chat.completion.chunk", created: 1, model: "rehearsal", choices };
    const usage = { prompt_tokens: 1000, completion_tokens: 20, total_tokens: 1020 };
    const lines = [JSON.stringify(event), JSON.stringify({ ...event, choices: [], usage }), "[DONE]"];
    const body = lines.map((line) => `data: ${line}\n\n`).join("");
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  try {
    await Deno.writeTextFile(join(folder, FILE), "line 1\nline 2\n");
    const env = {
      VIS_HOME: join(folder, "home"),
      VIS_BASE_URL: `http://127.0.0.1:${model.addr.port}/v1`,
      ...{ VIS_API_KEY: "rehearsal", VIS_MODEL: "rehearsal", VIS_PROVIDER: "", VIS_DB: "", VIS_LOG: "" },
    };
    const { code, stderr } = await run([...args, "run", "What is in the file?"], { cwd: folder, program, env });
    if (code !== 0) throw new Error(`Cannot rehearse a run: ${stderr.trim()}`);
  } finally {
    await model.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
}
