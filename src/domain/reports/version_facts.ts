/** The versions of this program and its runtime. */
export interface VersionFacts {
  readonly vis: string;
  readonly deno: string;
  readonly v8: string;
  readonly compiled: boolean;
  readonly target: string;
}
