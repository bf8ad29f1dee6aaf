import type { Log } from "../../src/logging/log.ts";
import {
  type EnvironmentView,
  type Extension,
  fn,
  type FunctionOptions,
  type HostFunction,
  z,
} from "../../src/extension/mod.ts";

export interface LogEntry {
  readonly level: keyof Log;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

export function recordingLog(): { readonly log: Log; readonly entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const keep = (level: keyof Log) => (event: string, data: Record<string, unknown> = {}): void => {
    entries.push({ level, event, data });
  };
  return { entries, log: { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") } };
}

export const VIEW: EnvironmentView = {
  envId: "env-1",
  conversationId: "con-1",
  branchId: "b",
  depth: 0,
  workspace: "/work",
};

export function sample(fields: Partial<Extension> = {}): Extension {
  const name = (fields.namespace ?? "test.sample").split(".").pop() ?? "sample";
  return {
    namespace: "test.sample",
    alias: { ns: `vis.ext.${name}`, alias: name },
    doc: "A sample.",
    version: "1.0.0",
    ...fields,
  };
}

export function twice(run: HostFunction, options: Partial<FunctionOptions> = {}): ReturnType<typeof fn> {
  return fn("twice", run, {
    doc: "Doubles.",
    args: z.tuple([z.number().describe("n")]),
    returns: "number",
    ...options,
  });
}
