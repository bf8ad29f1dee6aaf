import type { CliContext } from "@vis/extension";
import { isSigned } from "./is_signed.ts";
import { logIn } from "./log_in.ts";
import { loginFault } from "./login_fault.ts";
import { Logins } from "./logins.ts";

type Place = Pick<CliContext, "print" | "ask" | "home">;

/** Names of what `ask` rejects with. */
const UNANSWERED: readonly string[] = ["Cancelled", "UsageError"];

/** `vis mcp login`: resolves with the exit code. */
export async function loginCommand(
  { name, server, paste }: { readonly name: string; readonly server: unknown; readonly paste: boolean },
  { print, ask, home }: Place,
): Promise<number> {
  const { url, headers = {} } = Object(server);
  const fault = home === null
    ? "there is no home folder to keep the login in"
    : server === undefined
    ? "unknown server; vis mcp list shows all"
    : typeof url !== "string"
    ? "it is a program; logins are for addresses"
    : isSigned(headers)
    ? "its settings have an Authorization header, which would be used instead"
    : "";
  if (home === null || fault !== "") return refused(print, `Cannot log in to ${name}: ${fault}`);
  const logins = new Logins(home);
  try {
    await logins.set(name, await logIn(url, { print, ask: paste ? ask : null }));
  } catch (error) {
    if (error instanceof Error && UNANSWERED.includes(error.name)) throw error;
    return refused(print, `Cannot log in to ${name}: ${loginFault(error)}`);
  }
  print(`Logged in to ${name}; the login is saved in ${logins.path}\n`);
  return 0;
}

/** `vis mcp logout`, also of a server that was removed: resolves with the exit code. */
export async function logoutCommand(name: string, { print, home }: Place): Promise<number> {
  try {
    const removed = home !== null && await new Logins(home).remove(name);
    print(removed ? `Deleted the login of ${name}\n` : `There is no login of ${name}\n`);
    return 0;
  } catch (error) {
    return refused(print, `Cannot log out of ${name}: ${loginFault(error)}`);
  }
}

function refused(print: Place["print"], message: string): number {
  print(`vis: ${message}\n`);
  return 1;
}
