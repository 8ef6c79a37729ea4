import { Hono } from 'hono';
import type { NightlyRunEntry } from '../../domain/records/night.ts';
import { html, table, type Row, type SafeHtml } from '../../texts/html.ts';
import { nightSections, type NightPage } from '../../texts/nights/night-html.ts';
import { nightTone, nightVerdict } from '../../texts/nights/night-verdict.ts';
import type { ConsoleOptions } from '../console-options.ts';
import type { PageAnswers, PageFormat } from '../http/page-answers.ts';
import { batchAddress, listPages, type ListPart, listPart } from '../pages/page-parts.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, namesIn } from '../../platform/error-code.ts';

/** Serves the results of the nights, from their stored summaries. */
export function nightlyRoutes({ reportsDir }: Pick<ConsoleOptions, 'reportsDir'>, pages: PageAnswers): Hono {
  const list = pages.page(async (context, format) => {
    const { title } = format.texts.nights;
    const { nights, part } = await listNights(reportsDir, context.req.query('page'));
    const content = html`<h1>${title}</h1>
      ${nightList(format, nights)} ${listPages(format, part, (page) => `/nights?page=${page}`)}`;
    return { title, content };
  });

  const one = pages.page(async (context, format) => {
    const night = await readNight(reportsDir, context.req.param('date') ?? '');
    if (night === 'missing') return null;
    const { title, unreadable } = format.texts.nights;
    if (night === 'unreadable') return { title, content: html`<p>${unreadable}</p>` };
    const content = html`<p><a href="/nights">← ${title}</a></p>
      <h1>${format.texts.nights.night}: ${format.date(night.date)}</h1>
      ${nightSections(format, night, linkedName)}`;
    return { title: format.date(night.date), content };
  });

  return new Hono().get('/', list).get(`/:date{${NIGHTLY_DATE}}`, one);
}

function nightList(format: PageFormat, listed: readonly ListedNight[]): SafeHtml {
  const { nights, heads } = format.texts;
  if (listed.length === 0) return html`<p>${nights.none}</p>`;
  const columns = [
    ...[{ row: nights.night }, nights.outcome],
    ...[nights.files, heads.invoices, nights.issued].map((number) => ({ number })),
  ];
  const rows = listed.map((night) => listRow(format, night));
  return html`<p class="soft">${nights.asOfEach}</p>
    ${table(nights.title, columns, rows)}`;
}

function listRow({ texts, count, plural, date: dated }: PageFormat, { date, summary }: ListedNight): Row {
  const name = html`<a href="/nights/${date}">${dated(date)}</a>`;
  if (summary === null)
    return html`<tr><th scope="row">${name}</th><td colspan="4">${texts.nights.unreadable}</td></tr>`;
  const { files, waiting, invoices, notIssued } = summary.totals;
  return [
    ...[name, html`<span class="state ${nightTone(summary)}">${nightVerdict(texts, plural, summary)}</span>`],
    ...[files + waiting, invoices, invoices - notIssued].map((number) => count(number)),
  ];
}

function linkedName({ batchId, name }: NightlyRunEntry): SafeHtml {
  return batchId === null ? html`${name}` : html`<a href="${batchAddress(batchId)}">${name}</a>`;
}

/** Nights on one page of the list: a quarter of a year. */
const NIGHTS_OF_A_PAGE = 90;
const NIGHTLY_FILE = /^(\d{4}-\d{2}-\d{2})\.json$/u;

/** Pattern of a date in an address of the console, such as `2026-11-21`, as regular expression text. */
const NIGHTLY_DATE = '[0-9]{4}-[0-9]{2}-[0-9]{2}';

/** Contents of `reports/nights/<date>.json`, with times as epoch milliseconds. */
interface StoredNight extends NightPage {
  readonly date: string;
}

interface ListedNight {
  readonly date: string;
  readonly summary: StoredNight | null;
}

/** Returns one page of the dates with a summary, newest first; for `asked` see `listPart`. */
async function listNights(
  reportsDir: string,
  asked: string | undefined,
): Promise<{ readonly nights: readonly ListedNight[]; readonly part: ListPart }> {
  const names = await namesIn(join(reportsDir, 'nights'));
  const dates = names.flatMap((name) => NIGHTLY_FILE.exec(name)?.[1] ?? []).toReversed();
  const part = listPart(dates.length, NIGHTS_OF_A_PAGE, asked);
  const shown = dates.slice((part.page - 1) * NIGHTS_OF_A_PAGE, part.page * NIGHTS_OF_A_PAGE);
  const nights = shown.map(async (date) => {
    const summary = await readNight(reportsDir, date);
    return { date, summary: typeof summary === 'string' ? null : summary };
  });
  return { nights: await Promise.all(nights), part };
}

/** Returns the summary of a date; `missing` if there is none, `unreadable` if its file may not be read or is not a summary. Lote itself writes the file, so `schema` says what is in it. */
async function readNight(reportsDir: string, date: string): Promise<StoredNight | 'missing' | 'unreadable'> {
  if (!NIGHTLY_FILE.test(`${date}.json`)) return 'missing';
  try {
    const text = await readFile(join(reportsDir, 'nights', `${date}.json`), 'utf8');
    const { schema, ...night } = JSON.parse(text) as StoredNight & { readonly schema: string };
    return schema === 'lote.night/1' ? withTimes(night) : 'unreadable';
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'missing' : 'unreadable';
  }
}

/** Reads the times of a summary, which its file has as ISO texts. */
function withTimes(night: StoredNight): StoredNight {
  const timeOf = (time: number | string) => new Date(time).getTime();
  const runs = night.runs.map((run) => ({
    ...run,
    startedAt: timeOf(run.startedAt),
    finishedAt: run.finishedAt === null ? null : timeOf(run.finishedAt),
    message: run.message === null ? null : { ...run.message, at: timeOf(run.message.at) },
  }));
  return { ...night, runs };
}
