import { RealmBlob } from "./blob.ts";

interface Field {
  readonly name: string;
  readonly value: string | RealmBlob;
  readonly file: string;
}

/** FormData for the realm, sent as multipart/form-data. */
export class RealmForm {
  #fields: Field[] = [];

  append(...[name, value, file = "blob"]: readonly [name: string, value: unknown, file?: string]): void {
    const kept = value instanceof RealmBlob ? value : String(value);
    this.#fields.push({ name: String(name), value: kept, file: String(file) });
  }

  set(...[name, value, file]: readonly [name: string, value: unknown, file?: string]): void {
    this.delete(name);
    this.append(name, value, file);
  }

  get(name: string): string | RealmBlob | null {
    return this.getAll(name)[0] ?? null;
  }

  getAll(name: string): (string | RealmBlob)[] {
    return this.#fields.filter((field) => field.name === name).map(({ value }) => value);
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  delete(name: string): void {
    this.#fields = this.#fields.filter((field) => field.name !== name);
  }

  *entries(): IterableIterator<[string, string | RealmBlob]> {
    for (const { name, value } of this.#fields) yield [name, value];
  }

  [Symbol.iterator](): IterableIterator<[string, string | RealmBlob]> {
    return this.entries();
  }

  encode(boundary: string): RealmBlob {
    const quoted = (text: string): string =>
      text.replace(/[\r\n"]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
    const parts = this.#fields.flatMap(({ name, value, file }) => {
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
      if (typeof value === "string") return [`${head}\r\n\r\n${value}\r\n`];
      const type = value.type || "application/octet-stream";
      return [`${head}; filename="${quoted(file)}"\r\nContent-Type: ${type}\r\n\r\n`, value, "\r\n"];
    });
    return new RealmBlob([...parts, `--${boundary}--\r\n`], { type: `multipart/form-data; boundary=${boundary}` });
  }
}
