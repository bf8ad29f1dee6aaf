import { visibleWidth } from "@earendil-works/pi-tui";
import { fitted } from "./fitted.ts";
import { paint } from "./paint.ts";

const GAP = "  ";

/** One row of a list: a mark if selected, a name, and on the right as many facts as leave room for the name, the first
 * ones first. Everything is unstyled and safe for a terminal. */
export function row(
  name: string,
  { facts = [], detail = "", width, selected }: {
    readonly facts?: readonly string[];
    /** Shown after the name if there is room. */
    readonly detail?: string;
    readonly width: number;
    readonly selected: boolean;
  },
): string {
  const room = Math.max(1, width - 2);
  const wanted = Math.min(visibleWidth(name), Math.max(12, Math.floor(room * 0.55)));
  const told = facts.filter((fact) => fact !== "");
  while (told.length > 0 && visibleWidth(told.join(GAP)) + GAP.length + wanted > room) told.pop();
  const right = told.join(GAP);
  const left = right === "" ? room : room - visibleWidth(right) - GAP.length;
  const rest = left - visibleWidth(name);
  const said = detail !== "" && rest > GAP.length + 8;
  const text = fitted(name, { width: left, pad: right !== "" && !said });
  const more = said ? paint.dim(GAP + fitted(detail, { width: rest - GAP.length, pad: right !== "" })) : "";
  const shown = `${selected ? paint.bold(text) : text}${more}`;
  return `${selected ? "❯ " : "  "}${shown}${right === "" ? "" : `${GAP}${paint.dim(right)}`}`;
}
