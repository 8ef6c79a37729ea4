import { MOST_BYTES_OF_TEXTS, tooLarge } from '../limits.ts';
import { localName, readXml } from '../xml-reader.ts';
import type { ZipArchive } from '../zip-archive.ts';
import { RichText } from './rich-text.ts';

const PAGE_BITS = 22;
/** 4 MiB: a text of the longest length fits into one page. */
const PAGE_BYTES = 1 << PAGE_BITS;

/** The texts of a workbook, which its cells name by number. UTF-8 in pages: a million JavaScript strings would need six times as much. */
export class SharedStrings {
  readonly #pages: Buffer[] = [];
  #starts = new Uint32Array(1024);
  #lengths = new Uint32Array(1024);
  #count = 0;
  #used = PAGE_BYTES;

  /** @throws Refusal `workbook-too-large` */
  add(text: string): void {
    const length = Buffer.byteLength(text);
    if (this.#used + length > PAGE_BYTES) this.#turnPage();
    if (this.#count === this.#starts.length) this.#grow();
    const page = this.#pages.length - 1;
    this.#pages[page]?.write(text, this.#used, 'utf8');
    this.#starts[this.#count] = page * PAGE_BYTES + this.#used;
    this.#lengths[this.#count] = length;
    this.#count += 1;
    this.#used += length;
  }

  /** Undefined for a number that the workbook has no text for. */
  get(index: number): string | undefined {
    if (!(index >= 0 && index < this.#count)) return undefined;
    const start = this.#starts[index] ?? 0;
    const from = start % PAGE_BYTES;
    return this.#pages[start >>> PAGE_BITS]?.toString('utf8', from, from + (this.#lengths[index] ?? 0));
  }

  #turnPage(): void {
    if ((this.#pages.length + 1) * PAGE_BYTES > MOST_BYTES_OF_TEXTS)
      throw tooLarge('bytes of different texts', MOST_BYTES_OF_TEXTS);
    this.#pages.push(Buffer.allocUnsafe(PAGE_BYTES));
    this.#used = 0;
  }

  #grow(): void {
    const most = MOST_BYTES_OF_TEXTS / 8;
    if (this.#count >= most) throw tooLarge('different texts', most);
    this.#starts = doubled(this.#starts);
    this.#lengths = doubled(this.#lengths);
  }
}

function doubled(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}

/** Reads `sharedStrings.xml`; a workbook without it has its texts in the cells. */
export async function readSharedStrings(
  archive: ZipArchive,
  part: string | null,
  signal?: AbortSignal,
): Promise<SharedStrings> {
  const strings = new SharedStrings();
  if (part === null || !archive.has(part)) return strings;
  const rich = new RichText();
  await readXml(part, archive.chunks(part, signal), {
    open(name) {
      const local = localName(name);
      if (local === 'si') rich.begin();
      else rich.open(local);
    },
    close(name) {
      const local = localName(name);
      if (local === 'si') strings.add(rich.end());
      else rich.close(local);
    },
    text: (text) => rich.text(text),
  });
  return strings;
}
