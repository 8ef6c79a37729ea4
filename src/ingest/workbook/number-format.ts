/** What a number format says about the numbers that are shown with it. */
export interface NumberFormat {
  readonly kind: 'general' | 'number' | 'percent' | 'date';
  /** Most decimals that it shows; null: it says nothing about them. */
  readonly decimals: number | null;
  /** Digits that it shows at least: leading zeros are filled in up to here. */
  readonly leastDigits: number;
  /** It shows characters that are not in the cell (`"FT "0`). */
  readonly addsText: boolean;
  /** Sign or code of the currency that it shows. */
  readonly currency: string | null;
  /** As XLSX names it: its code, or its number where it needs no code. Left out where the file has none of them. */
  readonly code?: string | number;
}

/** As many digits as the number has, and nothing else. */
export const GENERAL: NumberFormat = {
  kind: 'general',
  decimals: null,
  leastDigits: 1,
  addsText: false,
  currency: null,
};

const CURRENCY = /R\$|[€£¥$]|(?<![A-Z])[A-Z]{3}(?![A-Z])/;
/** Formats that a file names by number only (ECMA-376, 18.8.30); 27 to 36 and 50 to 58 are dates of East Asian locales. */
const BUILT_IN: Readonly<Record<number, string>> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '#,##0',
  6: '#,##0',
  7: '#,##0.00',
  8: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  37: '#,##0',
  38: '#,##0',
  39: '#,##0.00',
  40: '#,##0.00',
  41: '#,##0',
  42: '#,##0',
  43: '#,##0.00',
  44: '#,##0.00',
  48: '##0.0E+0',
  49: '@',
};
const DATES: readonly (readonly [number, number])[] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
];

/** The format that XLSX gives this number to without writing it out. */
export function builtInFormat(id: number): NumberFormat {
  if (DATES.some(([first, last]) => id >= first && id <= last)) return { ...GENERAL, kind: 'date' };
  return parseNumberFormat(BUILT_IN[id] ?? 'General');
}

/** Reads a format code of XLSX, as far as it decides what a number means. Of several sections the first one, for positive numbers, counts. */
export function parseNumberFormat(code: string): NumberFormat {
  const { body, literals } = splitLiterals(firstSection(code));
  if (/general|@/i.test(body) || body.trim() === '') return { ...GENERAL, addsText: literals.trim() !== '' };
  if (/[ymdhs]/i.test(body)) return { ...GENERAL, kind: 'date' };
  const [, whole = '', fraction = ''] = /^([^.]*)(?:\.(.*))?$/s.exec(body) ?? [];
  const fixed = /^[0#?,.%\s]*$/.test(body);
  const currency = CURRENCY.exec(literals)?.[0] ?? null;
  return {
    kind: body.includes('%') ? 'percent' : 'number',
    decimals: fixed ? fraction.replace(/[^0#?]/g, '').length : null,
    leastDigits: Math.max(1, whole.replace(/[^0]/g, '').length),
    addsText: literals.trim() !== '' || !fixed || isBroken(body) || whole.trimEnd().endsWith(','),
    currency,
  };
}

/** Something stands between the digits. In front of them and behind them a space is room for a sign. */
function isBroken(body: string): boolean {
  const [digits = ''] = /[0#?].*[0#?]/s.exec(body) ?? [];
  return /[^0#?.,]/.test(digits);
}

function firstSection(code: string): string {
  let quoted = false;
  for (let at = 0; at < code.length; at += 1) {
    if (code[at] === '"') quoted = !quoted;
    else if (code[at] === '\\' && !quoted) at += 1;
    else if (code[at] === ';' && !quoted) return code.slice(0, at);
  }
  return code;
}

/** Placeholders on one side, where a space stands for each text; on the other these texts. Conditions and colours are neither. */
function splitLiterals(section: string): { readonly body: string; readonly literals: string } {
  let literals = '';
  const body = section
    .replace(/\[\$([^\]-]*)(?:-[^\]]*)?\]/g, (_, sign: string) => `"${sign}"`)
    .replace(/\[(?![hms]+\])[^\]]*\]/gi, '')
    .replace(/"([^"]*)"?|\\(.)|[_*].|[-+()/:$€£¥]/g, (found, quoted?: string, escaped?: string) => {
      // A fraction and a time are part of how the number is written.
      if (found === '/' || found === ':') return found;
      if (!found.startsWith('_') && !found.startsWith('*')) literals += quoted ?? escaped ?? found;
      return ' ';
    });
  return { body, literals };
}
