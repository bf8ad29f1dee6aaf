/** A message as a model was sent it. */
export interface SentMessage {
  readonly role: "system" | "user";
  readonly text: string;
}
