/** How the user gives the requests to a server a login or a token. */
export function loginAdvice(name: string): string {
  return `run vis mcp login ${name}; or keep a token with vis auth login ${name}, and add the header ` +
    `"Authorization: Bearer \${auth:${name}}"`;
}
