import { LONGEST_TOKEN, tooLarge } from '../limits.ts';

/** The text that an ODS cell shows: its paragraphs, one to a line. White space is written as elements. */
export class CellText {
  #paragraphs = 0;
  #depth = 0;
  #text = '';

  begin(): void {
    this.#paragraphs = 0;
    this.#depth = 0;
    this.#text = '';
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'text:p' || name === 'text:h') {
      if (this.#paragraphs > 0) this.#add('\n');
      this.#paragraphs += 1;
      this.#depth += 1;
    } else if (name === 'text:s')
      this.#add(' '.repeat(Math.min(Number(attributes['text:c'] ?? 1) || 1, LONGEST_TOKEN)));
    else if (name === 'text:tab') this.#add('\t');
    else if (name === 'text:line-break') this.#add('\n');
  }

  close(name: string): void {
    if (name === 'text:p' || name === 'text:h') this.#depth -= 1;
  }

  text(text: string): void {
    if (this.#depth > 0) this.#add(text.replace(/[ \t\r\n]+/g, ' '));
  }

  end(): string {
    return this.#text;
  }

  #add(text: string): void {
    this.#text += text;
    if (this.#text.length > LONGEST_TOKEN) throw tooLarge('characters in one cell', LONGEST_TOKEN);
  }
}
