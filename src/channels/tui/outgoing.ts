/** What the user wants to send. */
export interface Outgoing {
  /** With everything that was pasted into it, except what became a variable. */
  readonly text: string;
  /** Pasted texts that are too large to be read with the request, by the name of their variable. */
  readonly variables: Readonly<Record<string, string>>;
}
