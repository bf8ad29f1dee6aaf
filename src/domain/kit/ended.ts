import { Cancelled } from "../errors.ts";

/** Abort reason for work that is over; nobody sees it. Without a reason, each abort would create an exception with its
 * stack, which costs more than the rest of the abort. */
export const ENDED: Cancelled = new Cancelled("Ended");
