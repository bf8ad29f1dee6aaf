/** A server cannot be used. The message names it and contains no secrets. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  /** `wants` is what the user can still give it. */
  constructor(server: string, readonly why: string, readonly wants: "login" | "secret" | null = null) {
    super(`Cannot use MCP server ${server}: ${why}`);
  }
}
