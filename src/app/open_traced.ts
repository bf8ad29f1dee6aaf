import type { OpenRequest, Session } from "../channels/channel.ts";
import { openSession, type SessionParts } from "./open_session.ts";
import { wantedTelemetry } from "./otel/wanted_telemetry.ts";

/** `openSession`, with traces of its own where the environment asks for them: what waits is sent when it closes. */
export async function openTraced(
  request: OpenRequest,
  { version, ...parts }: SessionParts & { readonly version: string },
): Promise<Session> {
  const telemetry = request.browse ? null : await wantedTelemetry(parts.env, version);
  if (telemetry === null) return await openSession(request, parts);
  try {
    const session = await openSession(request, { ...parts, telemetry });
    return {
      ...session,
      close: async () => {
        await session.close();
        await telemetry.close();
      },
    };
  } catch (error) {
    await telemetry.close();
    throw error;
  }
}
