/** A JSON number may be `1e400`, a legal token that no invoice means; 40 places either way are more than any amount has. */
const LARGEST_EXPONENT = 40;

/** `1.5e3` -> `1500`: a JSON number without its exponent, exactly; null when the text has none, or one out of range. */
export function expandExponent(text: string): string | null {
  const [, sign = '', whole = '', fraction = '', power] = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/.exec(text) ?? [];
  if (power === undefined || Math.abs(Number(power)) > LARGEST_EXPONENT) return null;
  const digits = whole + fraction;
  const point = whole.length + Number(power);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
