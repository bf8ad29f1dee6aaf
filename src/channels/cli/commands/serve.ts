import { aborted } from "../../../domain/kit/concurrency.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import type { ServeRequest } from "../../channel.ts";
import type { CommandInput } from "../input/command_input.ts";
import { interrupt } from "../input/interrupt.ts";

/** `vis serve`: listens until it is interrupted. The token is only shown on a terminal. Resolves with the exit code. */
export async function serveCommand(
  { services, io, flags: { check, ...flags } }: CommandInput<ServeRequest & { readonly check?: boolean }>,
): Promise<number> {
  if (check) return await checkServer({ services, io, flags });
  using interrupted = interrupt(io);
  const server = await services.serve(flags);
  io.stdout(`${server.url}\n`);
  io.stderr(`vis · ${visibleText(`${server.provider} ${server.model} · token from ${server.tokenFrom}`)}\n`);
  for (const note of server.notes) io.stderr(`vis · ${visibleText(note)}\n`);
  if (server.token !== null && io.stdoutIsTerminal && io.stderrIsTerminal) {
    io.stderr(`vis · open ${server.url}#token=${encodeURIComponent(server.token)}\n`);
  }
  await aborted(interrupted.signal);
  io.stderr("vis · shutting down: running requests may finish; press Ctrl-C again to stop at once\n");
  await server.close();
  return 0;
}

/** `vis serve --check`, for the health checks of containers. Resolves with the exit code. */
async function checkServer({ services, io, flags }: CommandInput<ServeRequest>): Promise<number> {
  const { url, problem } = await services.checkServer(flags);
  if (problem === "") io.stdout(`${url} responds\n`);
  else io.stderr(`vis · Cannot reach ${url}: ${problem}\n`);
  return problem === "" ? 0 : 1;
}
