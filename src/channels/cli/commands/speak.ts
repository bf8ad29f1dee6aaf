import { aborted } from "../../../domain/kit/concurrency.ts";
import type { SpeakRequest } from "../../channel.ts";
import type { CommandInput } from "../input/command_input.ts";
import { interrupt } from "../input/interrupt.ts";

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
