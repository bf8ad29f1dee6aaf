const ESTABLISHED = "01";

/** One connection of the system's table, in the format of /proc/net/tcp. */
export interface ConnectionRow {
  /** The client's port. */
  readonly client: number;
  /** In the kernel's own numbers, such as "01". */
  readonly state: string;
  /** Of the socket; "0" if no process has it. */
  readonly inode: string;
}

/** The connections whose own end is at this port. */
export function rowsAt(text: string, port: number): readonly ConnectionRow[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return text.split("\n").flatMap((line) => {
    const [, at = "", from = "", state = "", , , , , , inode = "0"] = line.trim().split(/\s+/, 10);
    if (!at.endsWith(local)) return [];
    return [{ client: Number.parseInt(from.slice(from.lastIndexOf(":") + 1), 16), state, inode }];
  });
}

/** Inodes of established connections, by the client's port. */
export function establishedAt(text: string, port: number): ReadonlyMap<number, readonly string[]> {
  const rows = rowsAt(text, port).filter(({ state, inode }) => state === ESTABLISHED && inode !== "0");
  return new Map(
    [...Map.groupBy(rows, ({ client }) => client)].map(([client, found]) => [client, found.map(({ inode }) => inode)]),
  );
}
