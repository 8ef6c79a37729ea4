import { LONGEST_FORMAT, MOST_STYLES, tooLarge } from '../limits.ts';
import { GENERAL } from '../number-format.ts';
import type { NumberFormat } from '../number-format.ts';

/** Styles refer to each other; a circle of them must end. */
const MOST_PARENTS = 10;

type Attributes = Readonly<Record<string, string>>;

const DATA_STYLES: ReadonlySet<string> = new Set([
  'number:number-style',
  'number:currency-style',
  'number:percentage-style',
]);

const NOT_AS_DIGITS: ReadonlySet<string> = new Set(['number:scientific-number', 'number:fraction']);

/** The styles of an ODS file, of both of its parts that hold some, as far as they say how numbers are shown and which sheets are hidden. */
export class OdsStyles {
  readonly #formats = new Map<string, NumberFormat>();
  readonly #dataStyleOf = new Map<string, string>();
  readonly #parentOf = new Map<string, string>();
  readonly #hiddenTables = new Set<string>();
  #format: { name: string; format: NumberFormat } | null = null;
  #style = '';
  #text = '';

  open(name: string, attributes: Attributes): void {
    if (DATA_STYLES.has(name)) this.#begin(name, attributes);
    else if (name === 'style:style') {
      this.#style = attributes['style:name'] ?? '';
      const dataStyle = attributes['style:data-style-name'];
      const parent = attributes['style:parent-style-name'];
      if (dataStyle !== undefined) this.#dataStyleOf.set(this.#style, dataStyle);
      if (parent !== undefined) this.#parentOf.set(this.#style, parent);
    } else if (name === 'style:table-properties' && attributes['table:display'] === 'false')
      this.#hiddenTables.add(this.#style);
    else if (name === 'number:number' && this.#format !== null)
      this.#format.format = digits(this.#format.format, attributes);
    else if (NOT_AS_DIGITS.has(name)) this.#addsText(true);
    // The style that is named is that of negative numbers, and refers to the one of the others.
    else if (name === 'style:map')
      this.#addsText(this.#formats.get(attributes['style:apply-style-name'] ?? '')?.addsText === true);
    if (name.startsWith('number:')) this.#text = '';
    const styles = this.#formats.size + this.#parentOf.size + this.#dataStyleOf.size + this.#hiddenTables.size;
    if (styles > MOST_STYLES) throw tooLarge('cell styles', MOST_STYLES);
  }

  text(text: string): void {
    if (this.#format === null) return;
    this.#text += text;
    if (this.#text.length > LONGEST_FORMAT) throw tooLarge('characters in one number format', LONGEST_FORMAT);
  }

  close(name: string): void {
    if (this.#format === null) return;
    if (DATA_STYLES.has(name)) {
      this.#formats.set(this.#format.name, this.#format.format);
      this.#format = null;
    } else if (name === 'number:text') this.#addsText(!/^[\s()%+-]*$/.test(this.#text));
    else if (name === 'number:embedded-text') this.#addsText(this.#text !== '');
    else if (name === 'number:currency-symbol') this.#addsText(true);
    this.#text = '';
  }

  #addsText(adds: boolean): void {
    if (adds && this.#format !== null) this.#format.format = { ...this.#format.format, addsText: true };
  }

  /** Of a cell style; one that says nothing of numbers takes what its parent says. */
  format(style: string | undefined): NumberFormat {
    let name = style ?? 'Default';
    for (let steps = 0; steps < MOST_PARENTS && !this.#dataStyleOf.has(name); steps += 1)
      name = this.#parentOf.get(name) ?? '';
    return this.#formats.get(this.#dataStyleOf.get(name) ?? '') ?? GENERAL;
  }

  isHidden(tableStyle: string | undefined): boolean {
    return this.#hiddenTables.has(tableStyle ?? '');
  }

  #begin(name: string, attributes: Attributes): void {
    const kind = name === 'number:percentage-style' ? 'percent' : 'number';
    this.#format = { name: attributes['style:name'] ?? '', format: { ...GENERAL, kind } };
  }
}

function digits(format: NumberFormat, attributes: Attributes): NumberFormat {
  const decimals = attributes['number:decimal-places'];
  return {
    ...format,
    addsText: format.addsText || Number(attributes['number:display-factor'] ?? 1) !== 1,
    decimals: decimals === undefined ? null : Number(decimals),
    leastDigits: Math.max(1, Number(attributes['number:min-integer-digits'] ?? 1)),
  };
}
