import { createHmac } from "node:crypto";

/** The secret that Telegram must send with each update. It is derived from the token, so it need not be stored. */
export function webhookSecret(token: string): string {
  return createHmac("sha256", token).update("vis webhook").digest("hex");
}
