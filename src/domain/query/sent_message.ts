/** A message as it was sent to a model. */
export interface SentMessage {
  readonly role: "system" | "user";
  readonly text: string;
}
