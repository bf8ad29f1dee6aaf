import { look } from "../intrinsics/look.ts";

const List = Float64Array;
const ROOM = 8;

/** Where a loop in a block stores the numbers of its variables after every round; the code from rewrite/loops.ts sets
 * the fields. One per realm, as only one loop runs at a time. */
export class KeptNumbers {
  /** Names of the variables, separated by commas; "" while no such loop runs. */
  names = "";
  /** Starts with 0 and their values; starts with 1 while the variables hold their values themselves. */
  readonly list = new List(1 + ROOM);

  /** Writes back the values of a loop that was stopped before it could do so. */
  giveBack(give: (name: string, value: number) => void): void {
    const { names, list } = this;
    this.names = "";
    if (list[0] !== 0) return;
    let start = 0;
    for (let i = 1; i <= ROOM && start < names.length; i++) {
      const comma = look.indexOf(names, ",", start);
      const end = comma < 0 ? names.length : comma;
      give(look.slice(names, start, end), list[i]!);
      start = end + 1;
    }
  }
}
