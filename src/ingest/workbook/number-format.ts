import { readableCurrency } from '../invoice/read-number.ts';
import { LONGEST_FORMAT, MOST_STYLES, tooLarge } from './limits.ts';
import { localName, readXml } from './xml-reader.ts';
import type { ZipArchive } from './zip-archive.ts';

/** How one section of a format shows a number: digits, grouping, decimals. Null stands for any other form. */
export interface ShownDigits {
  /** Most decimals that the format shows; null means all decimals. */
  readonly decimals: number | null;
  readonly leastDigits: number;
  readonly negative: boolean;
  readonly currency: string | null;
  readonly isSpaced: boolean;
}

/** How a number format shows numbers. */
export interface NumberFormat {
  /** `other` means that the format may show more or less than the digits of the number. */
  readonly kind: 'general' | 'number' | 'percent' | 'date' | 'other';
  readonly digits: ShownDigits | null;
  /** How the format shows negative numbers; `ofZero` does the same for zero. Lote cannot read such numbers if the value is null. */
  readonly ofNegative: ShownDigits | null;
  readonly ofZero: ShownDigits | null;
  /** The code of the format in XLSX, or its number if it needs no code. */
  readonly code: string | number;
}

const ANY: ShownDigits = { decimals: null, leastDigits: 1, negative: false, currency: null, isSpaced: false };

/** Shows all digits of the number and nothing more. */
export const GENERAL: NumberFormat = {
  kind: 'general',
  digits: ANY,
  ofNegative: { ...ANY, negative: true },
  ofZero: ANY,
  code: 0,
};

/** Formats that a file names by number (ECMA-376, 18.8.30); 27 to 36 and 50 to 58 are East Asian dates. */
const BUILT_IN: Readonly<Record<number, string>> = {
  ...{ 0: 'General', 1: '0', 2: '0.00', 3: '#,##0', 4: '#,##0.00', 9: '0%', 10: '0.00%', 49: '@' },
  // 5 to 8, 42 and 44 show the currency of the computer that opens the sheet.
  ...{ 5: '#,##0', 6: '#,##0', 7: '#,##0.00', 8: '#,##0.00', 41: '#,##0', 42: '#,##0', 43: '#,##0.00', 44: '#,##0.00' },
  ...{ 11: '0.00E+00', 12: '# ?/?', 13: '# ??/??', 48: '##0.0E+0' },
  ...{ 37: '#,##0_);(#,##0)', 38: '#,##0_);[Red](#,##0)' },
  ...{ 39: '#,##0.00_);(#,##0.00)', 40: '#,##0.00_);[Red](#,##0.00)' },
};
const DATES: readonly (readonly [number, number])[] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
];

/** Returns the format that XLSX identifies by this number without a code. */
export function builtInFormat(id: number): NumberFormat {
  if (DATES.some(([first, last]) => id >= first && id <= last)) return { ...OTHER, kind: 'date', code: id };
  return { ...parseNumberFormat(BUILT_IN[id] ?? 'General'), code: id };
}

const OTHER: NumberFormat = { kind: 'other', digits: null, ofNegative: null, ofZero: null, code: '' };
/** Digit placeholders; some formats write a space or an apostrophe between groups. */
const DIGITS = /^[#0?]+(?:[,' ][#0?]+)*(?:\.[#0?]+)?$/;
/** A condition that tests more than the sign of a number. */
const CONDITION = /\[[<>=]+-?0*\.?0*[1-9]/;

/** Reads a format of XLSX: digits, signs, one known currency. Other formats have no `digits`. */
export function parseNumberFormat(code: string): NumberFormat {
  const sections = sectionsOf(code);
  const bodies = sections.map((section) => splitLiterals(section).body);
  if (bodies.some((body) => /[ymdhs]/i.test(body.replace(/general/gi, '')))) return { ...OTHER, kind: 'date', code };
  if (CONDITION.test(code)) return { ...OTHER, code };
  const [digits = null, negative, zero] = sections.map(shownDigits);
  const ofNegative =
    negative === undefined ? (digits === null ? null : { ...digits, negative: !digits.negative }) : negative;
  const isPercent = (bodies[0] ?? '').includes('%') && splitLiterals(sections[0] ?? '').literals.trim() === '';
  const isGeneral = sections.length === 1 && digits !== null && digits.decimals === null && digits.currency === null;
  const kind = isPercent ? 'percent' : digits === null ? 'other' : isGeneral && !digits.negative ? 'general' : 'number';
  return { kind, digits, ofNegative, ofZero: zero === undefined ? digits : zero, code };
}

function shownDigits(section: string): ShownDigits | null {
  const { body, literals } = splitLiterals(section);
  const signs = literals.replace(/[\s_]/g, '');
  const currency = signs.replace(/[-+()\u2212]/g, '');
  if (currency !== '' && readableCurrency(currency) === null) return null;
  const negative = /[-(\u2212]/.test(signs);
  const trimmed = body.replace(/^[\s…]+|[\s…]+$/g, '');
  const shown = { negative, currency: currency === '' ? null : currency, isSpaced: /[ ']/.test(trimmed) };
  if (/^(?:general|@)$/i.test(trimmed)) return { ...ANY, ...shown };
  if (!DIGITS.test(trimmed)) return null;
  const [whole = '', fraction = ''] = trimmed.split('.');
  return { ...shown, decimals: fraction.length, leastDigits: Math.max(1, whole.replace(/[^0]/g, '').length) };
}

function sectionsOf(code: string): readonly string[] {
  const sections = [''];
  for (const [token] of code.matchAll(/"[^"]*"?|\\.?|\[[^\]]*\]?|[_*].?|[^]/g)) {
    if (token === ';') sections.push('');
    else sections[sections.length - 1] += token;
  }
  return sections;
}

/** Returns placeholders, with a space or `…` for each text, and these texts; drops colours and conditions. */
function splitLiterals(section: string): { readonly body: string; readonly literals: string } {
  let literals = '';
  const body = section
    .replace(/\[\$([^\]-]*)(?:-[^\]]*)?\]/g, (_, sign: string) => `"${sign}"`)
    .replace(/\[(?![hms]+\])[^\]]*\]/gi, '')
    .replace(/"([^"]*)"?|\\(.)|[_*].|[-+()$€£¥]/g, (found, quoted?: string, escaped?: string) => {
      const literal = /^[_*]/.test(found) ? '' : (quoted ?? escaped ?? found);
      literals += literal;
      return /^[\s\u00a0\u202f']*$/u.test(literal) && found[0] !== '_' ? ' ' : '…';
    });
  return { body, literals };
}

/** Formats with this number or above have a code in the file. */
const FIRST_OWN_FORMAT = 164;

/** Returns the number format of a cell style by its index; the default is the first style. */
export type CellStyles = (style: string | undefined) => NumberFormat;

/** Reads the number formats of `styles.xml`. Without that part, a workbook shows all numbers as they are. */
export async function readStyles(archive: ZipArchive, part: string | null, signal?: AbortSignal): Promise<CellStyles> {
  if (part === null || !archive.has(part)) return () => GENERAL;
  const codes = new Map<number, string>();
  const ids: number[] = [];
  /** The current list. Other lists (conditional formats, `dxfs`) have numbers of their own. */
  let inside = '';
  await readXml(part, archive.chunks(part, signal), {
    open(name, attributes) {
      const local = localName(name);
      if ((attributes['formatCode'] ?? '').length > LONGEST_FORMAT)
        throw tooLarge('characters in one number format', LONGEST_FORMAT);
      if (local === 'cellXfs' || local === 'numFmts') inside = local;
      if (inside === 'numFmts' && local === 'numFmt')
        codes.set(Number(attributes['numFmtId']), attributes['formatCode'] ?? '');
      if (inside === 'cellXfs' && local === 'xf') ids.push(Number(attributes['numFmtId'] ?? 0));
      if (ids.length + codes.size > MOST_STYLES) throw tooLarge('cell styles', MOST_STYLES);
    },
    close(name) {
      if (localName(name) === inside) inside = '';
    },
  });
  const formats = new Map([...codes].map(([id, code]) => [id, parseNumberFormat(code)]));
  const isBuiltIn = (id: number): boolean => Number.isSafeInteger(id) && id >= 0 && id < FIRST_OWN_FORMAT;
  const ofStyle = ids.map((id) => formats.get(id) ?? (isBuiltIn(id) ? builtInFormat(id) : GENERAL));
  return (style) => ofStyle[Number(style ?? 0)] ?? GENERAL;
}
