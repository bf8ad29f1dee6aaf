import type { ServeRequest } from "../../channels/channel.ts";
import { serverUrl } from "../../domain/kit/addresses.ts";
import type { SessionParts } from "../session/open_session.ts";
import { readSettings } from "../settings/settings.ts";

const WITHIN_MS = 5_000;

export async function checkServer(
  request: ServeRequest,
  { env, ...parts }: SessionParts,
): Promise<{ readonly url: string; readonly problem: string }> {
  const { config: { server } } = await readSettings(request, env, parts);
  const { host = server.host, port = server.port } = request;
  const url = serverUrl(host, port);
  try {
    const { ok, status, body } = await fetch(`${url}healthz`, { signal: AbortSignal.timeout(WITHIN_MS) });
    await body?.cancel();
    return { url, problem: ok ? "" : `it responded with status ${status}` };
  } catch (error) {
    const late = error instanceof DOMException && error.name === "TimeoutError";
    return { url, problem: late ? `it did not respond within ${WITHIN_MS / 1000} s` : "no server responds there" };
  }
}
