import type { Command } from "commander";

export function manPage(program: Command, version: string): string {
  return `${program.name()} ${version}`;
}
