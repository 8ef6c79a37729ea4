import { LoteError } from '../../domain/errors.ts';

/** Part headers of a browser take some hundred bytes. */
const MOST_HEADER_BYTES = 16 * 1024;
const HEADER_END = Buffer.from('\r\n\r\n');
const FALLBACK_NAME = 'upload.csv';
/** Longer names are cut; most file systems allow 255 bytes, and a suffix must still fit. */
const LONGEST_NAME = 120;

export interface UploadedFile {
  /** A plain base name; nothing of it leads anywhere. */
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * The first file of a form (`multipart/form-data`), as a stream: never more of it is in memory than the network brought at once.
 * What follows it is not read. Null when the form carries no file, or one without a name: nothing was chosen.
 * @throws LoteError `usage` when the body is no such form, or ends early (from `content`, too)
 */
export async function multipartFile(
  contentType: string,
  body: AsyncIterable<Uint8Array>,
): Promise<UploadedFile | null> {
  const boundary = /^multipart\/form-data;.*?boundary="?([^";]{1,200})"?/iu.exec(contentType)?.[1];
  if (boundary === undefined) throw noForm('a form with a file (multipart/form-data)');
  const reader = createReader(body);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first boundary has no line end before it: one is put there.
  reader.prepend(Buffer.from('\r\n'));
  for (;;) {
    await reader.skipPast(delimiter);
    if (await reader.startsWith('--')) return null;
    const headers = await reader.readTo(HEADER_END, MOST_HEADER_BYTES);
    const name = fileName(headers.toString('utf8'));
    if (name !== null) return { name, content: reader.until(delimiter) };
  }
}

/** Null for a part that is no file, or that has no name. */
function fileName(headers: string): string | null {
  const disposition = /^content-disposition:(.*)$/imu.exec(headers)?.[1] ?? '';
  const given = /;\s*filename="((?:[^"\\]|\\.)*)"/iu.exec(disposition)?.[1];
  if (given === undefined || given === '') return null;
  return plainName(given);
}

/** Browsers write `"` as `%22`; some send the whole path. What is left is a name that no shell and no file system reads otherwise. */
function plainName(given: string): string {
  const base = given.replaceAll('%22', '"').split(/[/\\]/u).at(-1) ?? '';
  const plain = base
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}<>:"|?*]/gu, '_')
    .replace(/^[.\s]+/u, '')
    .trim();
  if (plain === '') return FALLBACK_NAME;
  const dot = plain.lastIndexOf('.');
  const end = dot > 0 ? plain.slice(dot).slice(0, 12) : '';
  return (
    Array.from(dot > 0 ? plain.slice(0, dot) : plain)
      .slice(0, LONGEST_NAME)
      .join('') + end
  );
}

interface Reader {
  prepend(bytes: Buffer): void;
  /** Leaves everything up to and with `mark`. */
  skipPast(mark: Buffer): Promise<void>;
  startsWith(text: string): Promise<boolean>;
  readTo(mark: Buffer, limit: number): Promise<Buffer>;
  /** Everything before `mark`, as it comes. */
  until(mark: Buffer): AsyncGenerator<Uint8Array>;
}

function createReader(body: AsyncIterable<Uint8Array>): Reader {
  const chunks = body[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);

  async function more(): Promise<void> {
    const next: IteratorResult<Uint8Array, unknown> = await chunks.next();
    if (next.done === true) throw noForm('a form that is sent to its end');
    held = held.length === 0 ? Buffer.from(next.value) : Buffer.concat([held, next.value]);
  }

  async function* until(mark: Buffer): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = held.indexOf(mark);
      // Without the mark, its beginning may still stand at the end of what is here.
      const sure = at === -1 ? Math.max(0, held.length - mark.length + 1) : at;
      if (sure > 0) yield held.subarray(0, sure);
      held = held.subarray(sure);
      if (at !== -1) return;
      await more();
    }
  }

  return {
    prepend: (bytes) => {
      held = Buffer.concat([bytes, held]);
    },
    async skipPast(mark) {
      for await (const bytes of until(mark)) void bytes;
      held = held.subarray(mark.length);
    },
    async startsWith(text) {
      while (held.length < text.length) await more();
      return held.subarray(0, text.length).equals(Buffer.from(text));
    },
    async readTo(mark, limit) {
      const parts: Uint8Array[] = [];
      let size = 0;
      for await (const bytes of until(mark)) {
        size += bytes.length;
        if (size > limit) throw noForm(`part headers of at most ${limit} bytes`);
        parts.push(Buffer.from(bytes));
      }
      held = held.subarray(mark.length);
      return Buffer.concat(parts);
    },
    until,
  };
}

function noForm(expected: string): LoteError {
  return new LoteError('usage', `Receiving a file: expected ${expected}, found something else. Choose the file again.`);
}
