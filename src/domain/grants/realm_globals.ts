/** Platform globals that an extension may ask for, and which kind of `allow` each one needs. */
export const REALM_GLOBALS: Readonly<Record<string, "net" | "read" | "write" | "env">> = {
  "fetch": "net",
  "Deno.readTextFile": "read",
  "Deno.readFile": "read",
  "Deno.readDir": "read",
  "Deno.stat": "read",
  "Deno.writeTextFile": "write",
  "Deno.writeFile": "write",
  "Deno.env.get": "env",
};
