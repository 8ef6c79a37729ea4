/** Milliseconds of a day of 24 hours; days on which a clock is changed have an hour more or less. */
export const DAY_MS = 24 * 60 * 60 * 1000;
