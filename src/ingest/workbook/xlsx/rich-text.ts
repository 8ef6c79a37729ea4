import { LONGEST_TOKEN, tooLarge } from '../limits.ts';

const ESCAPED = /_x([0-9A-Fa-f]{4})_/g;

/** The text of a string item: its runs one after the other, without the phonetic ones that stand above others. */
export class RichText {
  #text = '';
  #collecting = false;
  #phonetic = 0;

  begin(): void {
    this.#text = '';
    this.#collecting = false;
    this.#phonetic = 0;
  }

  open(local: string): void {
    if (local === 'rPh') this.#phonetic += 1;
    this.#collecting = local === 't' && this.#phonetic === 0;
  }

  close(local: string): void {
    if (local === 'rPh') this.#phonetic -= 1;
    if (local === 't') this.#collecting = false;
  }

  text(text: string): void {
    if (!this.#collecting) return;
    this.#text += text;
    if (this.#text.length > LONGEST_TOKEN) throw tooLarge('characters in one cell', LONGEST_TOKEN);
  }

  end(): string {
    return unescaped(this.#text);
  }
}

/** XLSX writes characters that XML cannot hold as `_x000D_`. */
export function unescaped(text: string): string {
  return text.includes('_x')
    ? text.replace(ESCAPED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
}
