import { aborted } from "../../../domain/kit/abortable.ts";
import type { Io, Services, SpeakRequest } from "../../channel.ts";
import { interrupt } from "../input/interrupt.ts";

/** `vis mcp` and `vis acp`: serves one client on stdin and stdout until it leaves. Resolves with the exit code. */
export async function speakCommand(
  { services, io, flags }: { readonly services: Services; readonly io: Io; readonly flags: SpeakRequest },
): Promise<number> {
  if (io.stdinIsTerminal) io.stderr(`vis · waiting for a client on stdin (see vis ${flags.protocol} --help)\n`);
  using interrupted = interrupt(io);
  const peer = await services.speak(flags);
  await Promise.race([peer.ended, aborted(interrupted.signal)]);
  await peer.close();
  return 0;
}
