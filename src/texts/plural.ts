/** A text with a number in it (`{n}`), and at times other words (`{of}`). */
export interface Plural {
  readonly one: string;
  readonly other: string;
}
