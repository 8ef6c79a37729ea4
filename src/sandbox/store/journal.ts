import { open, type FileHandle } from 'node:fs/promises';

/** Where a group is in the file, in bytes. */
export interface Position {
  readonly offset: number;
  readonly length: number;
}

const OWNER_ONLY = 0o600;
const NEWLINE = 0x0a;
const CHUNK_BYTES = 1024 * 1024;

/**
 * A file of groups, one JSON line each: a group is there whole, with its newline, or not at all. What was written survives the end of the process; the
 * kernel is not asked to bring it to the disk, since a simulated service need not survive a power cut.
 */
export class Journal {
  readonly #file: FileHandle;
  readonly #path: string;
  #length = 0;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(file: FileHandle, path: string) {
    this.#file = file;
    this.#path = path;
  }

  static async open(path: string): Promise<Journal> {
    return new Journal(await open(path, 'a+', OWNER_ONLY), path);
  }

  /**
   * Reads every group from the start, and cuts off a last one that its process did not finish. Call it once, before the first `append`.
   * @throws when a group in the middle is no JSON.
   */
  async *groups(): AsyncGenerator<{ readonly group: unknown; readonly position: Position }> {
    let rest: Buffer<ArrayBufferLike> = Buffer.alloc(0);
    for (let at = 0; ;) {
      const { bytesRead, buffer } = await this.#file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, at);
      if (bytesRead === 0) break;
      at += bytesRead;
      rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
        const position = { offset: this.#length, length: end };
        yield { group: this.#parse(rest.subarray(0, end)), position };
        this.#length += end + 1;
        rest = rest.subarray(end + 1);
      }
    }
    if (rest.length > 0) await this.#file.truncate(this.#length);
  }

  /** Resolves when the group survives the end of this process. After an error nothing of it is in the file. */
  append(group: unknown): Promise<Position> {
    const appended = this.#last.then(() => this.#append(group));
    this.#last = appended.catch(() => undefined);
    return appended;
  }

  async read({ offset, length }: Position): Promise<unknown> {
    const { bytesRead, buffer } = await this.#file.read(Buffer.alloc(length), 0, length, offset);
    return this.#parse(buffer.subarray(0, bytesRead));
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
  }

  async #append(group: unknown): Promise<Position> {
    const line = Buffer.from(`${JSON.stringify(group)}\n`);
    const position = { offset: this.#length, length: line.length - 1 };
    try {
      await this.#file.appendFile(line);
    } catch (error) {
      // A full disk may have taken a part of the line; the next group must not be joined to it.
      await this.#file.truncate(this.#length);
      throw error;
    }
    this.#length += line.length;
    return position;
  }

  #parse(line: Buffer): unknown {
    try {
      return JSON.parse(line.toString('utf8'));
    } catch (cause) {
      throw new Error(
        `Reading the sandbox's books in ${this.#path}: every line must be JSON, and the one at byte ${this.#length} is not. Put the file back, or remove its directory to start with empty books.`,
        { cause },
      );
    }
  }
}
