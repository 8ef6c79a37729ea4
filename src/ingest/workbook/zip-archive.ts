import { crc32 } from 'node:zlib';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { MOST_BYTES_OF_A_PART, MOST_PARTS, MOST_RATIO, RATIO_COUNTS_FROM, damaged, tooLarge } from './limits.ts';
import { Refusal, shorten } from '../findings.ts';

const LOCAL_HEADER_BYTES = 30;

/** The parts of a ZIP archive by name. Checks each part against its declared size and checksum. */
export class ZipArchive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  static async open(path: string): Promise<ZipArchive> {
    const zip = await openPromise(path, { lazyEntries: true, autoClose: false }).catch(rethrowAsDamage);
    try {
      return new ZipArchive(zip, await entriesOf(zip));
    } catch (error) {
      zip.close();
      return rethrowAsDamage(error);
    }
  }

  names(): Iterable<string> {
    return this.#entries.keys();
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase());
  }

  packedBytes(name: string): number {
    return this.#entries.get(name.toLowerCase())?.compressedSize ?? 0;
  }

  /** Streams the inflated bytes of a part. @throws Refusal `workbook-damaged`, `workbook-too-large` */
  async *chunks(name: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name.toLowerCase());
    if (entry === undefined) throw damaged(`its part ${JSON.stringify(shorten(name, 80))} is missing`);
    requireBounded(entry);
    signal?.throwIfAborted();
    let sum = 0;
    try {
      for await (const chunk of await this.#zip.openReadStreamPromise(entry)) {
        signal?.throwIfAborted();
        sum = crc32(chunk as Buffer, sum);
        yield chunk as Buffer;
      }
    } catch (error) {
      signal?.throwIfAborted();
      return rethrowAsDamage(error);
    }
    if (sum !== entry.crc32) throw damaged(`the checksum of its part ${JSON.stringify(shorten(name, 80))} is wrong`);
  }

  close(): void {
    this.#zip.close();
  }
}

/** Refuses two parts with one name, because programs disagree about which of them they read. */
async function entriesOf(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>();
  if (zip.entryCount > MOST_PARTS) throw tooLarge('parts', MOST_PARTS);
  for await (const entry of zip.eachEntry()) {
    if ((entry.generalPurposeBitFlag & 1) === 1) throw encrypted();
    const name = entry.fileName.toLowerCase();
    if (entries.has(name)) throw damaged('it has two parts of one name');
    entries.set(name, entry);
  }
  if (overlap([...entries.values()])) throw damaged('two of its parts overlap');
  return entries;
}

/** Returns true if parts share bytes. The ratio is limited per part, so a few megabytes that many parts share would inflate to terabytes. */
function overlap(entries: readonly Entry[]): boolean {
  const inPlace = entries.toSorted((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader);
  return inPlace.some(({ relativeOffsetOfLocalHeader: start, compressedSize }, at) => {
    const next = inPlace[at + 1];
    return next !== undefined && start + LOCAL_HEADER_BYTES + compressedSize > next.relativeOffsetOfLocalHeader;
  });
}

/** Archive streams stop a part that is longer than it declares. */
function requireBounded({ uncompressedSize, compressedSize }: Entry): void {
  if (uncompressedSize > MOST_BYTES_OF_A_PART) throw tooLarge('bytes of one part', MOST_BYTES_OF_A_PART);
  if (uncompressedSize > RATIO_COUNTS_FROM && uncompressedSize > compressedSize * MOST_RATIO)
    throw tooLarge('times the size of the file in one part', MOST_RATIO);
}

/** Returns the refusal of a workbook that opens only with a password. */
export function encrypted(): Refusal {
  const message =
    'Expected a workbook without a password, found an encrypted one. Save it without a password, and drop that file';
  return new Refusal('workbook-encrypted', message);
}

function rethrowAsDamage(error: unknown): never {
  if (error instanceof Refusal || !(error instanceof Error) || error.name === 'AbortError' || 'syscall' in error)
    throw error;
  throw damaged(`its archive cannot be read (${shorten(error.message.replace(/\.$/, ''), 120)})`);
}
