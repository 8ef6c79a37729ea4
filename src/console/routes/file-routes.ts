import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { LoteError } from '../../domain/errors.ts';
import type { BatchRecord } from '../../domain/records/batch-record.ts';
import { html, table, type SafeHtml } from '../../texts/html.ts';
import { proofLines } from '../../texts/outcomes/outcome-html.ts';
import type { ConsoleActions, ConsoleOptions, Declared, FileCheck } from '../console-options.ts';
import type { PageAnswers, PageFormat } from '../http/page-answers.ts';
import {
  field,
  batchAddress,
  firstFindings,
  readDeclared,
  select,
  uploadForm,
  writtenAs,
} from '../pages/page-parts.ts';
import { mayOperate, noteAct } from '../http/people.ts';

const StartForm = z.object({
  file: z.string().min(1).max(1_000),
  sha256: z.stringFormat('sha256', /^[0-9a-f]{64}$/u).optional(),
  checkedProfile: z.stringFormat('sha256', /^(?:[0-9a-f]{64})?$/u).optional(),
  acceptDuplicateRisk: z.literal('yes').optional().catch(undefined),
});
/** With a profile without these codes, Lote cannot tell a refusal from a duplicate. */
const DoubtfulRefusals = z.object({ idempotency: z.object({ mismatchCodes: z.array(z.unknown()).max(0) }) });

/** Takes a file from the browser, checks it, and starts it: Lote sends nothing before the last step. */
export function fileRoutes(options: ConsoleOptions, files: ConsoleActions['files'], pages: PageAnswers): Hono {
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

  const checkOf = pages.page(async (context, format) => {
    const file = context.req.query('file') ?? '';
    // A check is work and leads to a start, so a person with the role `look` has no use for it.
    if (!mayOperate(context)) return pages.roleMissing(context);
    if (file === '') return null;
    const declared = readDeclared(context.req.query());
    const check = await files.check(file, declared);
    const known = await ledger.batchOfFile(application, check.sha256);
    const content = checkPage(format, {
      ...{ file, declared, check, known },
      refusalsDoubted: DoubtfulRefusals.safeParse(options.serviceProfile).success,
    });
    return { title: format.texts.dryRun.title, content };
  });
  routes.get('/check', checkOf);

  routes.post('/start', async (context) => {
    const form = await formOf(context);
    const started = StartForm.safeParse(form);
    if (!started.success) return context.redirect('/', 303);
    const { file, sha256: checked, checkedProfile: profile, acceptDuplicateRisk } = started.data;
    const declared = { ...readDeclared(form), ...(acceptDuplicateRisk === 'yes' && { acceptDuplicateRisk: true }) };
    const note = (id: string) => noteAct(context, options.people, [id], { what: 'start', why: file });
    const { batchId, sha256 } = await files.start(file, declared, note, { sha256: checked, profile });
    return context.redirect(`${batchAddress(batchId)}?started=${sha256}`, 303);
  });

  return routes;
}

/** Reads a small form; the mounts of the routes limit its body. */
export async function formOf(context: Context): Promise<Readonly<Record<string, unknown>>> {
  return context.req.parseBody({ all: true });
}

const ReadWith = z.object({ profile: z.object({ sha256: z.string() }) });

interface CheckPage {
  readonly file: string;
  readonly declared: Declared;
  readonly check: FileCheck;
  readonly known: BatchRecord | null;
  /** True if a refusal by this service does not prove that nothing was created. */
  readonly refusalsDoubted: boolean;
}

/** Renders a file before Lote sends any of it: whether Lote can send it, its problems, and how Lote read it. */
function checkPage(format: PageFormat, page: CheckPage): SafeHtml {
  const { texts } = format;
  const { check, known, file } = page;
  return html`<h1>${texts.dryRun.title} ${baseName(file)}</h1>
    <section class="verdict ${tone(check)}">
      <p class="big"><strong>${verdict(format, check)}</strong></p>
      ${check.rowsLost === 0 ? '' : html`<p>${format.plural(texts.verdicts.rowsLeft, check.rowsLost)}</p>`}
      ${known === null ? '' : html`<p>${texts.dryRun.known} <a href="${batchAddress(known.batchId)}">${known.file}</a> (${texts.batchStates[known.state]}).</p>`}
      ${isOpenLayout(check) ? html`<p>${mappingLink(format, file)}</p>` : ''}
      ${check.refused ? '' : startForm(format, page)}
    </section>
    ${check.refused ? '' : netTable(format, check)}
    ${
      check.findings.length === 0
        ? html`<h2>${texts.dryRun.findings}</h2>
            <p>${texts.dryRun.noFindings}</p>`
        : firstFindings(format, check.findings, texts.dryRun.findings)
    }
    ${check.refused || check.invalid > 0 || check.rowsLost > 0 ? html`<h2>${texts.dryRun.correctAgain}</h2>${uploadForm(format)}` : ''}
    ${isOpenLayout(check) ? '' : html`<p>${mappingLink(format, file)}</p>`}
    ${declareForm(format, page)} ${howRead(format, check.proof)} ${bodies(format, check)}`;
}

function isOpenLayout({ refused, findings }: FileCheck): boolean {
  return refused && (findings[0]?.code === 'layout-unconfirmed' || findings[0]?.code === 'header-missing');
}

function mappingLink({ texts }: PageFormat, file: string): SafeHtml {
  return html`<a class="main" href="/mapping?${new URLSearchParams({ file }).toString()}">${texts.mapping.link}</a>`;
}

/** Says in one sentence whether Lote can send the invoices of a file. */
export function verdict({ texts, plural }: PageFormat, check: FileCheck): string {
  if (check.refused) return texts.dryRun.refused;
  return check.invalid === 0
    ? plural(texts.dryRun.clean, check.invoices)
    : plural(texts.dryRun.some, check.invalid, check.invoices);
}

/** Returns the colour of the verdict. */
export function tone(check: FileCheck): string {
  if (check.refused) return 'bad';
  return check.invalid > 0 || check.rowsLost > 0 ? 'open' : 'good';
}

function startForm(format: PageFormat, { file, declared, check, refusalsDoubted }: CheckPage): SafeHtml {
  const { texts } = format;
  const valid = check.invoices - check.invalid;
  if (valid === 0) return html``;
  return html`<form action="/start" method="post">
    <input type="hidden" name="file" value="${file}" />
    <input type="hidden" name="sha256" value="${check.sha256}" />
    <input type="hidden" name="checkedProfile" value="${profileOf(check)}" />
    ${Object.entries(declared).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${refusalsDoubted ? html`<label class="choice"><input type="checkbox" name="acceptDuplicateRisk" value="yes" /> ${texts.dryRun.risk}</label>` : ''}
    <button class="main">${format.plural(texts.dryRun.start, valid)}</button>
    ${check.invalid === 0 ? '' : html`<p class="soft">${texts.dryRun.startNote}</p>`}
  </form>`;
}

/** Returns the SHA-256 of the mapping profile that read the file, or an empty text if none did. */
function profileOf({ proof }: FileCheck): string {
  return ReadWith.safeParse(proof).data?.profile.sha256 ?? '';
}

/** Renders the net that Lote would issue, by currency. */
export function netTable({ texts, money }: PageFormat, { netOfValid }: FileCheck): SafeHtml {
  const currencies = Object.entries(netOfValid).sort(([a], [b]) => Number(a > b) - Number(a < b));
  if (currencies.length === 0) return html``;
  return html`<h2>${texts.dryRun.net}</h2>
    <ul class="figures">
      ${currencies.map(([currency, sum]) => html`<li><span class="figure">${money(sum)}</span> ${currency}</li>`)}
    </ul>`;
}

function bodies({ texts }: PageFormat, { firstBodies }: FileCheck): SafeHtml {
  if (firstBodies.length === 0) return html``;
  return html`<details>
    <summary>${texts.dryRun.firstBodies}</summary>
    <p class="soft">${texts.dryRun.firstBodiesNote}</p>
    ${firstBodies.map((body) => html`<pre tabindex="0">${body}</pre>`)}
  </details>`;
}

const Header = z.array(z.object({ column: z.string(), header: z.string() })).catch([]);

/** Renders how Lote read the file, with the proof. Shows columns only if the file has its own words: a table of equal pairs says nothing. */
function howRead(format: PageFormat, proof: Readonly<Record<string, unknown>>): SafeHtml {
  const { dryRun, mapping } = format.texts;
  const columns = Header.parse(proof['header']);
  const rows = columns.map(({ column, header }) => [html`<code>${column}</code>`, header]);
  return html`<h2>${dryRun.howRead}</h2>
    ${proofLines(proof, format)}
    ${columns.every(({ column, header }) => column === header) ? '' : table(mapping.column, [{ row: mapping.meaning }, mapping.column], rows)}`;
}

/** Returns the name of a file without its folder. */
export function baseName(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}

/** Renders a form for a file that does not prove how it is written: it repeats the check with the operator's knowledge. */
function declareForm(format: PageFormat, { file, declared }: CheckPage): SafeHtml {
  const { dryRun, mapping } = format.texts;
  const open = Object.keys(declared).length > 0;
  const keeps = [['duplicateRows', dryRun.keepDuplicates] as const, ['lookAlikes', dryRun.keepLookAlikes] as const];
  return html`<details ${open ? 'open' : ''}>
    <summary>${dryRun.declare}</summary>
    <form action="/check" class="fields">
      <input type="hidden" name="file" value="${file}" />
      ${declared.profile === undefined ? '' : html`<input type="hidden" name="profile" value="${declared.profile}" />`}
      <p class="soft">${dryRun.declareNote}</p>
      ${writtenAs(format, 'decimal', declared.decimal)} ${writtenAs(format, 'encoding', declared.encoding)}
      ${field(mapping.sheet, 'sheet', declared.sheet ?? '')}
      ${keeps.map(([name, keep]) => select({ name, label: dryRun[name], chosen: declared[name], none: dryRun.refuseDuplicates, choices: [['keep', keep]] }))}
      <button>${dryRun.again}</button>
    </form>
  </details>`;
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
      const isNamed = name !== undefined && name !== '';
      // The parser only emits its error, which needs a listener, and then ends the stream as if the file were whole.
      stream.on('error', (error) => isNamed && stream.destroy(error));
      if (isNamed) resolve({ name: plainName(name), content: contentOf(stream, stop) });
      else stream.resume();
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

async function* contentOf(stream: BusboyFileStream, stop: () => void): AsyncGenerator<Uint8Array> {
  try {
    for await (const bytes of stream) yield bytes as Uint8Array;
  } catch {
    throw noForm('a form that is sent to its end');
  } finally {
    stop();
  }
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
