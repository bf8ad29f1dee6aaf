import { aborted } from "../../../domain/kit/concurrency.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import type { ServeRequest, SpeakRequest } from "../../channel.ts";
import { interrupt } from "../output.ts";
import type { CommandInput } from "../program/command.ts";

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

/** `vis mcp` and `vis acp`: serves one client on stdin and stdout until it leaves. Resolves with the exit code. */
export async function speakCommand(
  { services, io, flags }: CommandInput<Omit<SpeakRequest, "onNote">>,
): Promise<number> {
  if (io.stdinIsTerminal) io.stderr(`vis · waiting for a client on stdin (see vis ${flags.protocol} --help)\n`);
  using interrupted = interrupt(io);
  const peer = await services.speak({ ...flags, onNote: (text) => io.stderr(`vis: ${text}\n`) });
  await Promise.race([peer.ended, aborted(interrupted.signal)]);
  await peer.close();
  return 0;
}
