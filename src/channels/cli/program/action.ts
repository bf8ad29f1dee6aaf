import type { Command } from "commander";
import type { CommandInput } from "../input/command_input.ts";
import type { Context } from "./context.ts";

/** What a command does: its code is loaded when it is used, and gets the arguments and then the rest of its input. */
export function action<A extends readonly unknown[], F>(
  { services, io, finish }: Context,
  load: () => Promise<(...given: [...A, CommandInput<F>]) => Promise<number>>,
): (...given: [...A, F, Command]) => Promise<void> {
  return async (...given) => {
    const run = await load();
    const flags = given.at(-2) as F;
    finish(await run(...given.slice(0, -2) as unknown as A, { services, io, flags }));
  };
}
