import type { OpenRequest, Session } from "../../channels/channel.ts";
import { openSession, type SessionParts } from "./open_session.ts";
import { wantedTelemetry } from "../otel/wanted_telemetry.ts";

/** `openSession` with the given traces, or with those that the environment requests. Queued spans are sent when the
 * session closes, or if it cannot be opened. */
export async function openTraced(
  request: OpenRequest,
  { version, ...parts }: SessionParts & { readonly version: string },
): Promise<Session> {
  const telemetry = parts.telemetry ?? (request.browse ? null : await wantedTelemetry(parts.env, version));
  if (telemetry === null) return await openSession(request, parts);
  try {
    const session = await openSession(request, { ...parts, telemetry });
    return {
      ...session,
      close: async () => {
        try {
          await session.close();
        } finally {
          await telemetry.close();
        }
      },
    };
  } catch (error) {
    await telemetry.close();
    throw error;
  }
}
