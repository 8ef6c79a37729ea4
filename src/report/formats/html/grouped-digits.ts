/** Narrow, and never a place to break the line. */
const THOUSANDS_SPACE = '\u202F';

/** `-1234567.5` as `-1 234 567.5`: readable in each country, where a comma or a point would be read two ways. */
export function groupedDigits(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/gu, THOUSANDS_SPACE);
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** An amount of money: two decimals at least, so that a column lines up; more where the file has more, for nothing is rounded. */
export function shownMoney(decimal: string): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  return groupedDigits(`${whole}.${fraction.padEnd(2, '0')}`);
}
