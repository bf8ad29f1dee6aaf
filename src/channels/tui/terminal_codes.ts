/** What is written to the terminal besides its picture. */
export const TERMINAL_CODES = {
  bell: "\x07",
  mouseOn: "\x1b[?1000h\x1b[?1002h\x1b[?1006h",
  mouseOff: "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l",
} as const;
