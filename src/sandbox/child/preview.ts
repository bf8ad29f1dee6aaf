// Thin stand-in until the preview is here.
export interface PreviewBounds {
  readonly chars?: number;
}
export function preview(value: unknown, bounds: PreviewBounds = {}): string {
  try {
    const text = typeof value === "string"
      ? JSON.stringify(value)
      : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);
    return text.slice(0, bounds.chars ?? 6000);
  } catch {
    return "?";
  }
}
