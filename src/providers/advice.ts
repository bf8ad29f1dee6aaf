/** What errors tell the user to check or to set, as parts of a sentence: a variable, or words like "the key of x". */
export interface Advice {
  readonly key: string;
  readonly baseUrl: string;
  readonly model: string;
}
