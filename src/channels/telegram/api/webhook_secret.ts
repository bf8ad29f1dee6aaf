import { createHmac } from "node:crypto";

/** What Telegram must send along with each update: made of the token, so that there is nothing more to keep. */
export function webhookSecret(token: string): string {
  return createHmac("sha256", token).update("vis webhook").digest("hex");
}
