import { join } from "node:path";
import pc from "picocolors";
import type { Conversation } from "../../../conversation/conversations.ts";
import { ConfigError } from "../../../domain/errors.ts";
import { fileFault } from "../../../domain/text/file_fault.ts";
import type { Io, OpenRequest, Services, Session } from "../../channel.ts";
import { demoTable } from "./demo_table.ts";
import { makeWorkspace } from "./demo_workspace.ts";
import { interrupt } from "../input/interrupt.ts";
import { withSession } from "../conversations/browse.ts";
import { exitCodeOf } from "../output/exit_code.ts";
import { Progress } from "../ask/progress.ts";
import { visibleText } from "../../../domain/text/visible_text.ts";

/** The demo's requests, in the first process and, after a restart, in the second. */
const REQUESTS = {
  first: [
    "Which files here mention TODO, and how often?",
    "What is the mean of the amounts in data/sales.csv?",
    "Define a function that formats cents as euros, and show 123456 cents with it.",
  ],
  second: [
    "Use the function from before: what is 98765 cents in euros?",
    "In src/discount.ts the rate must be 0.85 instead of 0.9: edit it and show the diff.",
  ],
} as const;

interface DemoContext {
  readonly services: Services;
  readonly io: Io;
  /** Folder of a demo whose first process has ended; null in the first process. */
  readonly resume: string | null;
}

/** `vis demo`: shows Vis at work in a temporary folder, with scripted replies instead of a model. */
export async function demoCommand(context: DemoContext): Promise<number> {
  return context.resume === null ? await firstPart(context) : await secondPart(context, context.resume);
}

async function firstPart({ services, io }: DemoContext): Promise<number> {
  const folder = await Deno.makeTempDir({ prefix: "vis-demo-" }).catch((error: unknown) => {
    throw new ConfigError(
      `Cannot make a folder for the demo: ${fileFault(error)}; set TMPDIR to one that Vis may write`,
    );
  });
  await Deno.mkdir(join(folder, "workspace"));
  await makeWorkspace(join(folder, "workspace"));
  io.stdout(`vis demo: the replies are scripted; everything else is real.\nWorkspace: ${folder}/workspace\n`);
  const code = await withSession(services.open(requestIn(folder)), async (session) => {
    const branch = await session.conversations.create({ title: "Demo", channel: "cli", workspace: session.workspace });
    return await askAll(REQUESTS.first, { session, branch, io });
  });
  if (code !== 0) return code;
  io.stdout("\n── this process ends; a new one continues the same conversation ──\n");
  return await services.respawn(["demo", "--resume", folder], {});
}

async function secondPart({ services, io }: DemoContext, folder: string): Promise<number> {
  return await withSession(services.open(requestIn(folder)), async (session) => {
    const branch = await session.conversations.latest(session.workspace);
    if (!branch) throw new Error(`Cannot resume the demo: ${folder} holds no conversation`);
    const code = await askAll(REQUESTS.second, { session, branch, io });
    io.stdout(await demoTable({ session, branch, folder }));
    return code;
  });
}

function requestIn(folder: string): OpenRequest {
  const place = { db: join(folder, "demo.db"), cwd: join(folder, "workspace") };
  return { ...place, provider: "demo", model: "policies", maxIterations: 4 };
}

async function askAll(
  requests: readonly string[],
  { session, branch, io }: { readonly session: Session; readonly branch: Conversation; readonly io: Io },
): Promise<number> {
  const color = pc.createColors(io.stdoutColor);
  // The demo shows its work where other commands show only the answer.
  const progress = new Progress({ ...io, stderr: io.stdout, stderrColor: io.stdoutColor, stderrIsTerminal: false }, {
    verbose: true,
  });
  using interrupted = interrupt(io);
  for (const request of requests) {
    io.stdout(`\n${color.bold(`> ${request}`)}\n`);
    const result = await session.conversations.ask(branch, request, {
      signal: interrupted.signal,
      emit: (event) => progress.show(event),
    });
    io.stdout(`${color.bold(visibleText(result.answer.trimEnd()))}\n`);
    if (result.status !== "done") {
      io.stderr(`vis: The demo failed: ${result.reason}\n`);
      return exitCodeOf(result);
    }
  }
  return 0;
}
