/** A server cannot be used. The message names it and contains no secrets. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  constructor(server: string, readonly why: string) {
    super(`Cannot use MCP server ${server}: ${why}`);
  }
}
