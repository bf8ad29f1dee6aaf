/** A default export becomes the value of the name itself. */
export default class Money {
  readonly cents: number;

  constructor(cents: number) {
    this.cents = cents;
  }

  plus(other: Money): Money {
    return new Money(this.cents + other.cents);
  }
}
