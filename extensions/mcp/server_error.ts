/** A server cannot be used; the message names it and holds no secret. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  constructor(server: string, why: string) {
    super(`Cannot use MCP server ${server}: ${why}`);
  }
}
