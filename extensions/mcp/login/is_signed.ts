/** Whether the settings of a server say how its requests are authorized. */
export function isSigned(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((key) => key.toLowerCase() === "authorization");
}
