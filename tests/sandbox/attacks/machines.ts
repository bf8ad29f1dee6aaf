/** The part of the attack table that is made on other machines: its content from their output, and its form on a
 * page. */

export interface MachineRun {
  readonly system: string;
  readonly user: string;
  readonly groups: ReadonlyMap<string, MachineGroup>;
}

export interface MachineGroup {
  readonly tried: number;
  readonly skipped: number;
  readonly failed: readonly string[];
}

/** Begins a part in the output of a machine. The title of its group follows, if its lines lack one. */
export const PART = "@@part ";

const HEADING = "## On arm64";
const GROUPS: readonly (readonly [title: string, name: RegExp])[] = [
  ["walls of the sandbox, each alone", /^wall /],
  ["attacks on the kernel wall of the sandbox", /^kernel: /],
  ["attacks on all walls of the sandbox", /^all: /],
  ["attacks of commands without a wall, which must work", /^without a wall: /],
  ["commands without sockets, with all attacks", /^LinuxWall: commands without sockets that /],
  ["commands in a network of their own, with all attacks", /^LinuxWall: commands in a network of its own that /],
  ["commands without namespaces, with all attacks", /^LinuxWall: commands without namespaces that /],
];

/** Reads lines of the Test Anything Protocol, in parts. A part without a plan broke off, and counts as failed. */
export function groupsOf(output: string): ReadonlyMap<string, MachineGroup> {
  const groups = new Map<string, { tried: number; skipped: number; failed: string[] }>();
  for (const part of output.split(PART).slice(1)) {
    const [title = "", ...lines] = part.split("\n");
    const results = lines.flatMap((line) => [...line.matchAll(/^(not )?ok\b(?: \d+)?(?: - (.*))?$/g)]);
    for (const [, not, said = ""] of results) {
      const name = said.replace(/ # SKIP.*/i, "");
      const group = GROUPS.find(([, pattern]) => pattern.test(name))?.[0] ?? title;
      const found = groups.get(group) ?? { tried: 0, skipped: 0, failed: [] };
      groups.set(group, found);
      if (name !== said) found.skipped++;
      else found.tried++;
      if (not) found.failed.push(name);
    }
    if (!lines.some((line) => /^1\.\.\d+$/.test(line))) {
      const said = lines.findLast((line) => line.trim() !== "") ?? "no output";
      groups.set(title, { tried: 0, skipped: 0, ...groups.get(title), failed: [`broke off: ${said}`] });
    }
  }
  return groups;
}

/** Returns the part of a page that is made on other machines; "" if it has none. */
export function machinesOf(page: string): string {
  const at = page.indexOf(`${HEADING}\n`);
  return at < 0 ? "" : page.slice(at);
}

/** Returns a page with this part in place of its own, or next to the results of other machines. */
export function withMachines(
  page: string,
  runs: readonly MachineRun[],
  { keepOthers }: { readonly keepOthers: boolean },
): string {
  const old = machinesOf(page);
  const before = page.slice(0, page.length - old.length).trimEnd();
  const isOld = (line: string, start: string, between: string, end: string): boolean =>
    runs.some(({ system, user, groups }) =>
      [...groups.keys()].some((title) => line.startsWith(`${start}${[system, user, title].join(between)}${end}`))
    );
  const kept = (start: string, between: string, end: string): string[] =>
    keepOthers
      ? old.split("\n").filter((line) => line.startsWith(`${start}Linux `) && !isOld(line, start, between, end))
      : [];
  const failed = [
    ...kept("- ", ", ", ": "),
    ...runs.flatMap(({ system, user, groups }) =>
      [...groups].flatMap(([title, group]) => group.failed.map((name) => `- ${system}, ${user}, ${title}: ${name}`))
    ),
  ];
  return [
    before,
    "",
    HEADING,
    "",
    "`bin/deno task attacks --arm64` runs the tests from source, on arm64 kernels in an emulator of the processor. The table",
    "has the groups of attacks that ran. The task omits attacks that only last, because the emulator is slower than their time",
    "limits. `time` means that a block had no effect, but ended later than the test allows.",
    "",
    "| system | user | group | tried | failed | skipped |",
    "| --- | --- | --- | --- | --- | --- |",
    ...kept("| ", " | ", " |"),
    ...runs.flatMap(({ system, user, groups }) =>
      [...groups].map(([title, { tried, failed, skipped }]) =>
        `| ${system} | ${user} | ${title} | ${tried} | ${failed.length} | ${skipped} |`
      )
    ),
    "",
    ...failed,
    ...(failed.length > 0 ? [""] : []),
  ].join("\n");
}
