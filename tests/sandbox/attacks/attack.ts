/** The walls that can be tried by themselves. `kernel` is Landlock and the system call filter together. */
export const WALLS = ["realm", "permissions", "process", "landlock", "seccomp"] as const;
export type Wall = typeof WALLS[number];

/** Each attack is a block that tries to reach something outside, with the targets in `T`. What it achieved is judged
 * by its effect (targets.ts), not by what it says. `got(text)` hands over what was read. */
export interface Attack {
  readonly name: string;
  readonly group: string;
  readonly code: string;
  /** Walls that must stop it by themselves. All of them together stop every attack. */
  readonly claims: readonly Wall[];
  /** Uses a thread of the runtime's pool. From source, such threads exist before the child sets Landlock, which does
   * not cover them: the list of system calls stops them. */
  readonly pooled: boolean;
  /** Works where no wall stands, and is checked to: otherwise stopping it would prove nothing. "source": not in a
   * compiled program, whose main thread has permissions by kind and not all of them, as for /proc and ATTACH. */
  readonly control: boolean | "source";
  /** Leaves the realm changed, so that what comes after it in the same child would be another attack. */
  readonly dirty: boolean;
  /** May end its child, which then costs the variables of that block. */
  readonly mayEnd: boolean;
  /** Runs in a child with little memory. */
  readonly small: boolean;
  readonly deadlineMs: number;
}

type Options = Partial<Omit<Attack, "name" | "group" | "code">>;
type Entry = string | readonly [code: string, options: Options];

/** Attacks of one kind, with what holds for all of them but where an entry says other. */
export function attackGroup(group: string, options: Options, list: Readonly<Record<string, Entry>>): Attack[] {
  return Object.entries(list).map(([name, entry]) => {
    const [code, own] = typeof entry === "string" ? [entry, {}] : entry;
    const base = {
      claims: [],
      pooled: false,
      control: false,
      dirty: false,
      mayEnd: true,
      small: false,
      deadlineMs: 1000,
    };
    return { ...base, ...options, ...own, name, group, code };
  });
}
