const TYPED = /^(\D{0,3}?)(-?\d+)e-(\d{1,3})$/;

/**
 * A number that a workbook holds as a number, so that no decimal mark has to be proved for it: `12.5` waits as `125e-1`, in front of it the
 * currency that its format shows. Whole numbers wait as they are.
 */
export function typedNumber(canonical: string, currency: string): string {
  const [whole = '', fraction = ''] = canonical.split('.');
  return fraction === '' && currency === '' ? canonical : `${currency}${whole}${fraction}e-${fraction.length}`;
}

/** The decimal with a point that `typedNumber` wrote; null for any other text. */
export function readTypedNumber(cell: string): string | null {
  const [, currency = '', digits, places] = TYPED.exec(cell) ?? [];
  if (digits === undefined || places === undefined) return null;
  const unsigned = digits.replace('-', '').padStart(Number(places) + 1, '0');
  const at = unsigned.length - Number(places);
  const decimal = Number(places) === 0 ? unsigned : `${unsigned.slice(0, at)}.${unsigned.slice(at)}`;
  return `${currency}${digits.startsWith('-') ? '-' : ''}${decimal}`;
}
