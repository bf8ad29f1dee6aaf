/** What a script cannot provide itself. */
export interface WorkerTools {
  readonly import: (specifier: string, options?: ImportCallOptions) => Promise<unknown>;
}
