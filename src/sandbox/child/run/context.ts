/** The block that started the current code; background work of earlier blocks keeps its own. */
export interface RunContext {
  /** The wire's id of the run. */
  readonly id: string;
  /** Why it must start nothing more: its deadline passed, it was cancelled, or its query ended. "" while it may. */
  ended: string;
}
