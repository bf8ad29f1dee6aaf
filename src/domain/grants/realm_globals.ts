/** Platform globals that an extension may request, with the kind of `allow` that each needs. */
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
