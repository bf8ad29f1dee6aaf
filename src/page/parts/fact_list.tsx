import type { JSX } from "preact";

/** A titled list of names and what they are. */
export function FactList(
  { title, rows }: { readonly title: string; readonly rows: Readonly<Record<string, string>> },
): JSX.Element {
  return (
    <section>
      <h3>{title}</h3>
      <dl>{Object.entries(rows).map(([name, text]) => [<dt>{name}</dt>, <dd>{text}</dd>])}</dl>
    </section>
  );
}
