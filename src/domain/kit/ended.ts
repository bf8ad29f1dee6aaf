import { Cancelled } from "../errors.ts";

/** Why the signal of a piece of work that is over is aborted: nobody sees it. Without a reason each abort would make an
 * exception with its stack, which takes longer than all the rest of it. */
export const ENDED: Cancelled = new Cancelled("Ended");
