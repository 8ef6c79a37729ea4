import { Zip, ZipDeflate } from 'fflate';

/** Without a time of its own: the same rows are the same bytes, by which a report that is written again knows its corrections. */
const NO_TIME = new Date(1980, 0, 1);

/** A ZIP archive that is written part by part, and taken away as it grows. */
export class ZipStream {
  #ready: Uint8Array[] = [];
  readonly #zip = new Zip((error, bytes) => {
    if (error !== null) throw error;
    this.#ready.push(bytes);
  });

  /** A part that grows; it must be ended before the next one begins. */
  begin(name: string): { write(text: string): void; end(): void } {
    const part = new ZipDeflate(name, { level: 6 });
    part.mtime = NO_TIME;
    this.#zip.add(part);
    return {
      write: (text) => part.push(Buffer.from(text, 'utf8')),
      end: () => part.push(new Uint8Array(0), true),
    };
  }

  /** A whole part. */
  add(name: string, text: string): void {
    const part = this.begin(name);
    part.write(text);
    part.end();
  }

  end(): void {
    this.#zip.end();
  }

  /** The bytes since the last call. */
  take(): readonly Uint8Array[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }
}
