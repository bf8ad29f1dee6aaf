import { look } from "./preview_intrinsics.ts";

const List = Float64Array;
const ROOM = 8;

/** Where a loop of a block puts the numbers of its variables after every round; see rewrite_loops.ts, whose code sets
 * the fields. One for a realm, as only one loop runs at a time. */
export class KeptNumbers {
  /** Names of the variables, with commas; "" while no such loop runs. */
  names = "";
  readonly list = new List(ROOM);

  /** A loop that was stopped could not give its variables their values. */
  giveBack(give: (name: string, value: number) => void): void {
    const { names, list } = this;
    this.names = "";
    let start = 0;
    for (let i = 0; i < ROOM && start < names.length; i++) {
      const comma = look.indexOf(names, ",", start);
      const end = comma < 0 ? names.length : comma;
      give(look.slice(names, start, end), list[i]!);
      start = end + 1;
    }
  }
}
