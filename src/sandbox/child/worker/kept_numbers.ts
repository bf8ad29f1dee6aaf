import { look } from "../intrinsics/look.ts";

const List = Float64Array;
const ROOM = 8;

/** Where a loop of a block puts the numbers of its variables after every round; see rewrite/loops.ts, whose code sets
 * the fields. One for a realm, as only one loop runs at a time. */
export class KeptNumbers {
  /** Names of the variables, with commas; "" while no such loop runs. */
  names = "";
  /** First 0, then their values; first 1 while the variables have their values themselves. */
  readonly list = new List(1 + ROOM);

  /** A loop that was stopped could not give its variables their values. */
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
