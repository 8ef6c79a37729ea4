import { crc32 } from 'node:zlib';
import type { Readable } from 'node:stream';
import { open } from 'yauzl';
import type { Entry, ZipFile } from 'yauzl';
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
    const zip = await new Promise<ZipFile>((resolve, reject) =>
      open(path, { lazyEntries: true, autoClose: false }, (error, opened) =>
        error === null ? resolve(opened) : reject(asDamage(error)),
      ),
    );
    try {
      return new ZipArchive(zip, await entriesOf(zip));
    } catch (error) {
      zip.close();
      throw error;
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
    const stream = await this.#stream(entry);
    let sum = 0;
    try {
      for await (const chunk of stream) {
        signal?.throwIfAborted();
        sum = crc32(chunk as Buffer, sum);
        yield chunk as Buffer;
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw asDamage(error);
    } finally {
      stream.destroy();
    }
    if (sum !== entry.crc32) throw damaged(`the checksum of its part ${JSON.stringify(shorten(name, 80))} is wrong`);
  }

  close(): void {
    this.#zip.close();
  }

  #stream(entry: Entry): Promise<Readable> {
    return new Promise((resolve, reject) => {
      this.#zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(asDamage(error))));
    });
  }
}

function entriesOf(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>();
  return new Promise((resolve, reject) => {
    if (zip.entryCount > MOST_PARTS) return reject(tooLarge('parts', MOST_PARTS));
    zip.on('error', (error) => reject(asDamage(error)));
    zip.on('end', () =>
      overlap([...entries.values()]) ? reject(damaged('two of its parts overlap')) : resolve(entries),
    );
    zip.on('entry', (entry: Entry) => {
      const problem = problemOf(entry, entries);
      if (problem !== null) return reject(problem);
      entries.set(entry.fileName.toLowerCase(), entry);
      zip.readEntry();
    });
    zip.readEntry();
  });
}

/** Refuses two parts with one name, because programs disagree about which of them they read. */
function problemOf(entry: Entry, entries: ReadonlyMap<string, Entry>): Refusal | null {
  if ((entry.generalPurposeBitFlag & 1) === 1) return encrypted();
  if (entries.size >= MOST_PARTS) return tooLarge('parts', MOST_PARTS);
  return entries.has(entry.fileName.toLowerCase()) ? damaged('it has two parts of one name') : null;
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

function asDamage(error: unknown): unknown {
  if (error instanceof Refusal || !(error instanceof Error) || error.name === 'AbortError') return error;
  if ('syscall' in error) return error;
  return damaged(`its archive cannot be read (${shorten(error.message.replace(/\.$/, ''), 120)})`);
}
