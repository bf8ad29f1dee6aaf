/** The walls that can be tried alone. `kernel` is Landlock and the system call filter together. */
export const WALLS = ["realm", "permissions", "process", "landlock", "seccomp"] as const;
export type Wall = typeof WALLS[number];

/** Each attack is a block that tries to reach the outside, with the targets in `T`. Its effect decides (targets.ts),
 * not its output. `got(text)` delivers a text that it read. */
export interface Attack {
  readonly name: string;
  readonly group: string;
  readonly code: string;
  /** Each of these walls alone must stop the attack. All walls together stop every attack. */
  readonly claims: readonly Wall[];
  /** Whether the attack uses a thread of the runtime's pool. From source, such threads exist before the child sets
   * Landlock, which does not cover them. The list of system calls stops them. */
  readonly pooled: boolean;
  /** Whether the attack works without walls, which is checked: otherwise stopping it would prove nothing. "source"
   * excludes a compiled program, whose main thread has permissions by kind and not all of them, as for /proc and
   * ATTACH. */
  readonly control: boolean | "source";
  /** Whether the attack leaves the realm changed, so that a later block in the same child would be another attack. */
  readonly dirty: boolean;
  /** Whether the attack may end its child, which then costs the variables of that block. */
  readonly mayEnd: boolean;
  readonly small: boolean;
  readonly deadlineMs: number;
}

type Options = Partial<Omit<Attack, "name" | "group" | "code">>;
type Entry = string | readonly [code: string, options: Options];

/** Makes attacks of one kind. Their common options apply unless an entry overrides them. */
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
