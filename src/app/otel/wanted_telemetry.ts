import type { EnvironmentVariables } from "../settings/settings.ts";
import type { Telemetry } from "./telemetry.ts";

/** Null if the environment requests no traces; the exporter is only loaded if it does. */
export async function wantedTelemetry(env: EnvironmentVariables, version: string): Promise<Telemetry | null> {
  if (!Object.keys(env).some((name) => /^OTEL_EXPORTER_OTLP_(TRACES_)?ENDPOINT$/.test(name))) return null;
  const { openTelemetry } = await import("./telemetry.ts");
  return openTelemetry(env, { version });
}
