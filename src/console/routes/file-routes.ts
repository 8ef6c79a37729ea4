import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { checkPage } from '../pages/check-page.ts';
import type { ConsoleActions, ConsoleOptions } from '../console-options.ts';
import { readDeclared } from '../forms/forms.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { mayOperate, noteAct } from '../people/people.ts';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { LoteError } from '../../domain/errors.ts';

const StartForm = z.object({
  file: z.string().min(1).max(1_000),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/u)
    .optional(),
  checkedProfile: z
    .string()
    .regex(/^(?:[0-9a-f]{64})?$/u)
    .optional(),
  acceptDuplicateRisk: z.literal('yes').optional().catch(undefined),
});
/** With a profile without these codes, Lote cannot tell a refusal from a duplicate. */
const DoubtfulRefusals = z.object({ idempotency: z.object({ mismatchCodes: z.array(z.unknown()).max(0) }) });

/** Takes a file from the browser, checks it, and starts it: Lote sends nothing before the last step. */
export function fileRoutes(
  options: ConsoleOptions,
  files: NonNullable<ConsoleActions['files']>,
  pages: PageAnswers,
): Hono {
  const { ledger, application = 'default' } = options;
  const routes = new Hono();

  routes.post('/files', async (context) => {
    const { body } = context.req.raw;
    const type = context.req.header('content-type') ?? '';
    const uploaded = body === null ? null : await multipartFile(type, Readable.fromWeb(body as NodeStream));
    if (uploaded === null) return context.redirect('/', 303);
    const file = await files.keep(uploaded.name, uploaded.content);
    return context.redirect(`/check?${new URLSearchParams({ file }).toString()}`, 303);
  });

  routes.get('/check', async (context) => {
    const file = context.req.query('file') ?? '';
    // A check is work and leads to a start, so a person with the role `look` has no use for it.
    if (!mayOperate(context)) return pages.roleMissing(context);
    if (file === '') return pages.notFound(context);
    const declared = readDeclared(context.req.query());
    const check = await files.check(file, declared);
    const format = pages.formatOf(context);
    const known = await ledger.batchOfFile(application, check.sha256);
    const content = checkPage(format, {
      ...{ file, declared, check, known },
      refusalsDoubted: DoubtfulRefusals.safeParse(options.serviceProfile).success,
    });
    return pages.show(context, { title: format.texts.dryRun.title, content });
  });

  routes.post('/start', async (context) => {
    const form = await formOf(context);
    const started = StartForm.safeParse(form);
    if (!started.success) return context.redirect('/', 303);
    const accepted = started.data.acceptDuplicateRisk === 'yes' ? { acceptDuplicateRisk: true } : {};
    const declared = { ...readDeclared(form), ...accepted };
    const note = (id: string) => noteAct(context, options.people, id, { what: 'start', why: started.data.file });
    const { file, sha256: checked, checkedProfile: profile } = started.data;
    const { batchId, sha256 } = await files.start(file, declared, note, { sha256: checked, profile });
    return context.redirect(`/batches/${encodeURIComponent(batchId)}?started=${sha256}`, 303);
  });

  return routes;
}

/** Reads a small form; the mounts of the routes limit its body. */
export async function formOf(context: Context): Promise<Readonly<Record<string, unknown>>> {
  return context.req.parseBody({ all: true });
}

/** Part headers of a browser take some hundred bytes; Lote does not read beyond this limit. */
const MOST_HEADER_BYTES = 16 * 1024;
/** A form of the console has one file and a few fields. */
const MOST_PARTS = 100;
const FALLBACK_NAME = 'upload.csv';
/** In bytes. Lote cuts longer names: most file systems allow 255, and a suffix must still fit. */
const LONGEST_NAME = 244;

interface UploadedFile {
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Returns the first file of a form as a stream, or null if the form has no file or the file has no name. @throws LoteError `usage`, also from `content` */
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
      // Ends the form, because the reader would otherwise wait for the rest of the file for ever.
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
      // `plainName` cleans the names by stricter rules.
      preservePath: true,
      limits: { headerSize: MOST_HEADER_BYTES, parts: MOST_PARTS },
    });
  } catch {
    throw noForm('a form with a file (multipart/form-data)');
  }
}

/**
 * Listens from the beginning: the parser only emits its error and then ends the stream as if the file were whole, and
 * an error without a listener would end the process.
 */
function failureOf(stream: BusboyFileStream): () => boolean {
  let failed = false;
  stream.on('error', () => (failed = true));
  return () => failed;
}

interface FormEnd {
  readonly broken: () => boolean;
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

/** Cleans a file name. Browsers write `"` as `%22`, and some send the whole path. No shell and no file system gives the result a special meaning. */
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

/** Returns the beginning of a text in at most `bytes` bytes of UTF-8, without half a character. */
function cut(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}

function noForm(expected: string): LoteError {
  return new LoteError('usage', `Receiving a file: expected ${expected}, found something else. Choose the file again.`);
}
