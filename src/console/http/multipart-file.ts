import { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { LoteError } from '../../domain/errors.ts';

/** Part headers of a browser take some hundred bytes; what goes beyond this is not read. */
const MOST_HEADER_BYTES = 16 * 1024;
/** A form of the console has one file and a few fields. */
const MOST_PARTS = 100;
const FALLBACK_NAME = 'upload.csv';
/** In bytes. Longer names are cut; most file systems allow 255, and a suffix must still fit. */
const LONGEST_NAME = 244;

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
  if (!/boundary="?[^";\s]/iu.test(contentType)) throw noForm('a form with a file (multipart/form-data)');
  const form = openForm(contentType);
  const source = Readable.from(body);
  const stop = (): void => void source.unpipe(form).destroy();
  const file = await new Promise<UploadedFile | null>((resolve, reject) => {
    form.on('file', (_field: string, stream: BusboyFileStream, name?: string) => {
      const broken = failureOf(stream);
      if (name === undefined || name === '') stream.resume();
      else resolve({ name: plainName(name), content: contentOf(stream, { broken, stop }) });
    });
    form.on('finish', () => resolve(null));
    form.on('error', () => reject(noForm('a form that is sent to its end')));
    source.on('error', (error) => {
      reject(error);
      // The reader of the file would wait for its rest for ever.
      form.end();
    });
    source.pipe(form);
  });
  if (file === null) stop();
  return file;
}

function openForm(contentType: string): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      // Names are made plain here, by stricter rules.
      preservePath: true,
      limits: { headerSize: MOST_HEADER_BYTES, parts: MOST_PARTS },
    });
  } catch {
    throw noForm('a form with a file (multipart/form-data)');
  }
}

/** Listens before the first read: an error without a listener would end the process. */
function failureOf(stream: BusboyFileStream): () => boolean {
  let failed = false;
  stream.on('error', () => (failed = true));
  return () => failed;
}

interface FormEnd {
  readonly broken: () => boolean;
  /** Reads no further, although the client may still send. */
  readonly stop: () => void;
}

async function* contentOf(stream: BusboyFileStream, { broken, stop }: FormEnd): AsyncGenerator<Uint8Array> {
  try {
    for await (const bytes of stream) yield bytes as Uint8Array;
  } catch {
    throw noForm('a form that is sent to its end');
  } finally {
    stop();
  }
  if (broken()) throw noForm('a form that is sent to its end');
}

/** Browsers write `"` as `%22`; some send the whole path. What is left is a name that no shell and no file system reads otherwise. */
function plainName(given: string): string {
  const base = given.replaceAll('%22', '"').split(/[/\\]/u).at(-1) ?? '';
  const plain = base
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>:"|?*]/gu, '_')
    .replace(/^[.\s]+/u, '')
    .trim();
  if (plain === '') return FALLBACK_NAME;
  const dot = plain.lastIndexOf('.');
  const end = dot > 0 ? plain.slice(dot).slice(0, 12) : '';
  return cut(dot > 0 ? plain.slice(0, dot) : plain, LONGEST_NAME - Buffer.byteLength(end)) + end;
}

/** The beginning of a text in at most so many bytes of UTF-8, without half a character. */
function cut(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}

function noForm(expected: string): LoteError {
  return new LoteError('usage', `Receiving a file: expected ${expected}, found something else. Choose the file again.`);
}
