/** What a script cannot have of its own. */
export interface WorkerTools {
  readonly import: (specifier: string, options?: ImportCallOptions) => Promise<unknown>;
}
