import { LONGEST_FORMAT, MOST_STYLES, tooLarge } from './limits.ts';
import { GENERAL, parseNumberFormat, type NumberFormat } from './number-format.ts';

/** Styles refer to each other, so this limit ends a cycle. */
const MOST_PARENTS = 10;
/** As many as a format of Excel may have; the file can state any number. */
const MOST_ZEROS = 30;

type Attributes = Readonly<Record<string, string>>;

const DATA_STYLES: ReadonlySet<string> = new Set([
  ...['number:number-style', 'number:currency-style', 'number:percentage-style'],
  ...['number:date-style', 'number:time-style', 'number:boolean-style', 'number:text-style'],
]);

interface DataStyle {
  readonly name: string;
  code: string;
  /** The styles for numbers of one sign, by condition. */
  readonly signs: Map<string, string>;
}

/** The styles in both parts of an ODS file: how numbers are shown, and what is hidden. */
export class OdsStyles {
  readonly #formats = new Map<string, NumberFormat>();
  readonly #dataStyleOf = new Map<string, string>();
  readonly #parentOf = new Map<string, string>();
  readonly #hidden = new Set<string>();
  #data: DataStyle | null = null;
  #style = '';
  #text = '';

  open(name: string, attributes: Attributes): void {
    if (DATA_STYLES.has(name)) this.#data = { name: attributes['style:name'] ?? '', code: '', signs: new Map() };
    else if (name === 'style:style') {
      this.#style = attributes['style:name'] ?? '';
      const dataStyle = attributes['style:data-style-name'];
      const parent = attributes['style:parent-style-name'];
      if (dataStyle !== undefined) this.#dataStyleOf.set(this.#style, dataStyle);
      if (parent !== undefined) this.#parentOf.set(this.#style, parent);
    } else if (hides(name, attributes)) this.#hidden.add(this.#style);
    else if (this.#data !== null) this.#openInData(this.#data, name, attributes);
    if (name.startsWith('number:')) this.#text = '';
    const styles = this.#formats.size + this.#parentOf.size + this.#dataStyleOf.size + this.#hidden.size;
    if (styles > MOST_STYLES) throw tooLarge('cell styles', MOST_STYLES);
  }

  text(text: string): void {
    if (this.#data === null) return;
    this.#text += text;
    if (this.#text.length > LONGEST_FORMAT) throw tooLarge('characters in one number format', LONGEST_FORMAT);
  }

  close(name: string): void {
    const data = this.#data;
    if (data === null) return;
    if (DATA_STYLES.has(name)) {
      this.#formats.set(data.name, parseNumberFormat(this.#withSigns(data)));
      this.#data = null;
    } else if (name === 'number:text') data.code += this.#text.trim() === '%' ? '%' : literal(this.#text);
    else if (name === 'number:currency-symbol') data.code += literal(this.#text);
    // This text stands between the digits.
    else if (name === 'number:embedded-text' && this.#text !== '') data.code += literal(`…${this.#text}`);
    if (data.code.length > LONGEST_FORMAT) throw tooLarge('characters in one number format', LONGEST_FORMAT);
    this.#text = '';
  }

  #openInData(data: DataStyle, name: string, attributes: Attributes): void {
    if (name === 'number:number') data.code += digits(attributes);
    else if (name === 'style:map')
      data.signs.set(
        (attributes['style:condition'] ?? '').replace(/\s|value\(\)/g, ''),
        attributes['style:apply-style-name'] ?? '',
      );
    else if (/^number:(?:year|month|day|hours|minutes|seconds)$/.test(name)) data.code += 'd';
    else if (name === 'number:text-content') data.code += '@';
    else if (/^number:(?:scientific-number|fraction|boolean|fill-character)$/.test(name))
      data.code += name === 'number:fill-character' ? '' : 'E+';
  }

  /** The style itself is for the other numbers. XLSX lists positive numbers, negative numbers and zero. */
  #withSigns({ code, signs }: DataStyle): string {
    if (signs.size === 0) return code;
    const of = (condition: string) => {
      const named = signs.get(condition);
      return named === undefined ? undefined : String(this.#formats.get(named)?.code ?? 'General').split(';')[0];
    };
    const known = [...signs.keys()].every((condition) => /^(?:[<>]=?|=)0(?:\.0*)?$/.test(condition));
    if (!known) return `[>1]${code}`;
    const positive = of('>=0') ?? of('>0') ?? code;
    return [positive, of('<0') ?? of('<=0') ?? code, of('=0') ?? of('>=0') ?? of('<=0') ?? code].join(';');
  }

  /** Returns the format of a cell style. A style without a number format inherits that of its parent. */
  format(style: string | undefined): NumberFormat {
    let name = style ?? 'Default';
    for (let steps = 0; steps < MOST_PARENTS && !this.#dataStyleOf.has(name); steps += 1)
      name = this.#parentOf.get(name) ?? '';
    return this.#formats.get(this.#dataStyleOf.get(name) ?? '') ?? GENERAL;
  }

  isHidden(style: string | undefined): boolean {
    return this.#hidden.has(style ?? '');
  }
}

/** Returns true if the style hides its element: `0cm`, `0.0in`, `0.01cm`. */
function hides(name: string, attributes: Attributes): boolean {
  if (name === 'style:table-properties') return attributes['table:display'] === 'false';
  const size =
    name === 'style:table-row-properties'
      ? attributes['style:row-height']
      : name === 'style:table-column-properties'
        ? attributes['style:column-width']
        : undefined;
  return size !== undefined && Number.parseFloat(size) < 0.02;
}

function literal(text: string): string {
  return text === '' ? '' : `"${text.replaceAll('"', "'")}"`;
}

function digits(attributes: Attributes): string {
  const decimals = attributes['number:decimal-places'];
  const factor = Number(attributes['number:display-factor'] ?? 1);
  const scale = factor === 1 ? '' : ',';
  const whole = zeros(Math.max(1, Number(attributes['number:min-integer-digits'] ?? 1)));
  if (decimals === undefined && whole === '0') return `General${scale}`;
  const grouped = attributes['number:grouping'] === 'true' ? `#,##${whole}` : whole;
  return `${grouped}${Number(decimals ?? 0) > 0 ? `.${zeros(Number(decimals))}` : ''}${scale}`;
}

function zeros(count: number): string {
  return '0'.repeat(Math.min(Math.max(Math.trunc(count) || 0, 0), MOST_ZEROS));
}
