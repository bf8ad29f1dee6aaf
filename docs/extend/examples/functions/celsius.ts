export function celsius(fahrenheit: number): number {
  return Math.round((fahrenheit - 32) * 50 / 9) / 10;
}
