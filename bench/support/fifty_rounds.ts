import type { MockRequest } from "../../tests/helpers/wires/openai_mock.ts";
import { fileName, FILES, markOf } from "./fifty_files.ts";
import type { Program } from "./programs.ts";
import { type VisRun, visRun } from "./vis_run.ts";

export interface FiftyRoundsOptions {
  readonly workspace: string;
  readonly keep?: boolean;
  readonly onRound?: (round: number, pid: number) => void;
}

export async function fiftyRounds(program: Program, options: FiftyRoundsOptions): Promise<VisRun> {
  const run = await visRun(program, {
    workspace: options.workspace,
    args: ["--max-iterations", String(FILES + 5)],
    prompt: "Read every file in notes one after the other and say what you found",
    handler: (request, pid) => {
      const round = request.index + 1;
      options.onRound?.(round, pid);
      if (round > 1) assertSeen(request);
      return reply(round, options.keep ?? false);
    },
  });
  if (run.bytes.length !== FILES + 1) throw new Error(`Cannot measure: ${run.bytes.length} requests, not ${FILES + 1}`);
  return run;
}

function assertSeen({ index, context }: MockRequest): void {
  if (context.includes(markOf(index - 1))) return;
  throw new Error(`Cannot measure: request ${index + 1} does not show ${fileName(index - 1)}:\n${context}`);
}

function reply(round: number, keep: boolean): string {
  if (round > FILES) return JSON.stringify({ final: { answer: `${FILES} files were read` } });
  const read = `await fs.readFile(${JSON.stringify(fileName(round - 1))})`;
  const expr = keep ? `const part${round} = ${read}\npart${round}` : read;
  return JSON.stringify({
    thinking: `File ${round} of ${FILES} comes next; nothing so far answers the request.`,
    code: [{ expr, timeMs: 1000 }],
  });
}
