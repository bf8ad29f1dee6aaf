/** A login that failed or is missing. The message says what to do and contains no secrets. */
export class LoginError extends Error {
  override readonly name = "LoginError";
}
