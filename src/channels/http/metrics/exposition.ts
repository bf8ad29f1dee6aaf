type Labels = Readonly<Record<string, string>>;

interface Family {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** For a histogram: ascending upper bounds. */
  readonly bounds: readonly number[];
  readonly series: Map<string, Series>;
}

interface Series {
  readonly labels: Labels;
  /** For a histogram: the sum. */
  value: number;
  count: number;
  readonly buckets: number[];
}

/** More series of one name mean a label that grows without bound; further ones are dropped. */
const MAX_SERIES = 1000;

/** Metrics in the Prometheus text format (version 0.0.4). Names end in their unit, counters in `_total`. */
export class Exposition {
  readonly #families = new Map<string, Family>();

  counter(name: string, help: string): (by?: number, labels?: Labels) => void {
    const family = this.#family(name, { type: "counter", help });
    return (by = 1, labels = {}) => {
      const series = seriesOf(family, labels);
      if (series && by > 0) series.value += by;
    };
  }

  gauge(name: string, help: string): (value: number, labels?: Labels) => void {
    return this.#set(name, { type: "gauge", help });
  }

  /** A counter that is kept elsewhere; the returned function sets its total. */
  total(name: string, help: string): (value: number) => void {
    return this.#set(name, { type: "counter", help });
  }

  #set(name: string, about: Pick<Family, "type" | "help">): (value: number, labels?: Labels) => void {
    const family = this.#family(name, about);
    return (value, labels = {}) => {
      const series = seriesOf(family, labels);
      if (series) series.value = value;
    };
  }

  histogram(
    name: string,
    { help, bounds }: { readonly help: string; readonly bounds: readonly number[] },
  ): (value: number, labels?: Labels) => void {
    const family = this.#family(name, { type: "histogram", help, bounds });
    return (value, labels = {}) => {
      const series = seriesOf(family, labels);
      if (!series) return;
      series.value += value;
      series.count++;
      for (const [at, bound] of bounds.entries()) {
        if (value <= bound) series.buckets[at] = (series.buckets[at] ?? 0) + 1;
      }
    };
  }

  text(): string {
    return [...this.#families].map(([name, family]) => familyText(name, family)).join("");
  }

  #family(name: string, { bounds = [], ...rest }: Omit<Family, "bounds" | "series"> & Partial<Family>): Family {
    if (this.#families.has(name)) throw new Error(`Cannot count twice: ${name}`);
    const family: Family = { ...rest, bounds, series: new Map() };
    this.#families.set(name, family);
    return family;
  }
}

function seriesOf(family: Family, labels: Labels): Series | null {
  const key = labelText(labels);
  const known = family.series.get(key);
  if (known) return known;
  if (family.series.size >= MAX_SERIES) return null;
  const made: Series = { labels, value: 0, count: 0, buckets: family.bounds.map(() => 0) };
  family.series.set(key, made);
  return made;
}

function familyText(name: string, { type, help, bounds, series }: Family): string {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  for (const { labels, value, count, buckets } of series.values()) {
    if (type !== "histogram") {
      lines.push(`${name}${labelText(labels)} ${value}`);
      continue;
    }
    for (const [at, bound] of bounds.entries()) {
      lines.push(`${name}_bucket${labelText({ ...labels, le: String(bound) })} ${buckets[at]}`);
    }
    lines.push(`${name}_bucket${labelText({ ...labels, le: "+Inf" })} ${count}`);
    lines.push(`${name}_sum${labelText(labels)} ${value}`, `${name}_count${labelText(labels)} ${count}`);
  }
  return `${lines.join("\n")}\n`;
}

function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

function escaped(value: string): string {
  return value.slice(0, 200).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
