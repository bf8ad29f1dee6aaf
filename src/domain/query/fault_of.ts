import { BusyError, Cancelled, ConfigError, OutputError, ProviderError, StoreError, UsageError } from "../errors.ts";

const KINDS = {
  usage: UsageError,
  config: ConfigError,
  store: StoreError,
  provider: ProviderError,
  busy: BusyError,
  cancelled: Cancelled,
  output: OutputError,
} as const;

export type FaultKind = keyof typeof KINDS;

/** An expected error, worded for the caller. */
export interface Fault {
  readonly kind: FaultKind;
  readonly message: string;
}

/** Describes an error that reached a channel to the caller; null for a defect. */
export function faultOf(error: unknown): Fault | null {
  for (const kind of Object.keys(KINDS) as FaultKind[]) {
    if (error instanceof KINDS[kind]) return { kind, message: kind === "cancelled" ? "Cancelled" : error.message };
  }
  return null;
}
