// Thin stand-in.
export function shape(value: unknown): string {
  return typeof value;
}
