import { MAIN, UnfitForWorkbook, XML_HEAD, xmlText } from './package-parts.ts';

/** How a cell looks beside its number format. A wrong one differs by its fill, and without colour by its frame and bold type. */
export type Look = 'plain' | 'heading' | 'wrong';

/** Numbers below are those of formats that need no code. */
const FIRST_OWN_FORMAT = 164;
/** Longer ones and more of them Excel takes for damage, and leaves all formats away. */
const LONGEST_FORMAT = 255;
const MOST_FORMATS = 200;
const AMBER = 'FFFFE699';
const RED = 'FFC00000';
const SIDES = ['left', 'right', 'top', 'bottom'];

/** The cell styles of a workbook, each given a number when it is asked for first. */
export class CellStyles {
  readonly #styles: { readonly format: number; readonly look: Look }[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #codes = new Map<string, number>();

  constructor() {
    // The first one is that of all cells without a style.
    this.numberOf(null, 'plain');
  }

  /** Number of the style for cells of this format. @throws UnfitForWorkbook */
  numberOf(format: string | number | null, look: Look): number {
    const id = typeof format === 'string' ? this.#formatOf(format) : (format ?? 0);
    const key = `${id} ${look}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.#styles.length);
    return this.#styles.push({ format: id, look }) - 1;
  }

  /** The part that describes all styles that were asked for. */
  xml(): string {
    const codes = [...this.#codes].map(([code, id]) => `<numFmt numFmtId="${id}" formatCode="${xmlText(code)}"/>`);
    const styles = this.#styles.map(
      ({ format, look }) =>
        `<xf numFmtId="${format}" fontId="${look === 'plain' ? 0 : 1}" fillId="${look === 'wrong' ? 2 : 0}" borderId="${look === 'wrong' ? 1 : 0}" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1" applyBorder="1"/>`,
    );
    const frame = SIDES.map((side) => `<${side} style="medium"><color rgb="${RED}"/></${side}>`).join('');
    const font = '<sz val="11"/><name val="Calibri"/><family val="2"/>';
    return [
      `${XML_HEAD}<styleSheet xmlns="${MAIN}">`,
      codes.length === 0 ? '' : `<numFmts count="${codes.length}">${codes.join('')}</numFmts>`,
      `<fonts count="2"><font>${font}</font><font><b/>${font}</font></fonts>`,
      '<fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>',
      `<fill><patternFill patternType="solid"><fgColor rgb="${AMBER}"/><bgColor indexed="64"/></patternFill></fill></fills>`,
      `<borders count="2"><border><left/><right/><top/><bottom/><diagonal/></border><border>${frame}<diagonal/></border></borders>`,
      '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>',
      `<cellXfs count="${styles.length}">${styles.join('')}</cellXfs>`,
      '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
    ].join('');
  }

  #formatOf(code: string): number {
    const known = this.#codes.get(code);
    if (known !== undefined) return known;
    if (code.length > LONGEST_FORMAT || this.#codes.size === MOST_FORMATS)
      throw new UnfitForWorkbook(
        `it has number formats of more than ${LONGEST_FORMAT} characters, or more than ${MOST_FORMATS} of them`,
      );
    const id = FIRST_OWN_FORMAT + this.#codes.size;
    this.#codes.set(code, id);
    return id;
  }
}
