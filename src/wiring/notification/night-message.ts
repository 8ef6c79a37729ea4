import type { MessageChannel, NightlyRunEntry } from '../../domain/ports/run-log.ts';
import type { NightOutcome } from '../../domain/ports/night-messages.ts';
import { html, type SafeHtml } from '../../report/formats/html/html.ts';
import { nightSums, type NightSums } from '../../report/nightly/night-sums.ts';
import type { Speech } from '../../texts/choose-language.ts';
import { CONTRADICTION_TEXTS } from '../../texts/contradictions.ts';
import { fill } from '../../texts/fill.ts';
import { NIGHT_TEXTS } from '../../texts/nights/night-catalogue.ts';
import { waitingCount } from '../../texts/nights/waiting-files.ts';
import type { NightTexts } from '../../texts/nights/night-texts.ts';
import { plainText } from '../../texts/plain-text.ts';
import { speechFormat, type SpeechFormat } from '../../texts/speech-format.ts';

/** The message of a night: for people, and for programs. */
export interface NightMessage {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** What a webhook carries: numbers, names of files, ids of batches. */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface MessagePlace {
  readonly application: string;
  /** The console shows several: a night needs the name of its application. */
  readonly isOneOfSeveral: boolean;
  /** Null: nobody knows where the console is. */
  readonly consoleUrl: string | null;
}

interface MessageFormat extends SpeechFormat {
  readonly texts: NightTexts;
}

interface Line {
  readonly name: string;
  readonly words: string;
  readonly link: string | null;
}

/** More are on the page of the night. */
const MOST_FILES = 50;
const URGENT_FIRST = ['failed', 'refused', 'attention'];

/**
 * What went out, what needs somebody, and what to do, in the reader's language. It holds what the page of the night
 * shows of files and numbers; no reference, no tax number, no name of a customer.
 */
export function nightMessage(night: NightOutcome, speech: Speech, place: MessagePlace): NightMessage {
  const format: MessageFormat = { ...speechFormat(speech), texts: NIGHT_TEXTS[speech.language] };
  const { morning, nights } = format.texts;
  const { files, waiting } = night.run;
  const problems = urgent(files).map((file) => lineOf(format, file, place));
  const left = waiting.map((file) => ({
    name: plainText(file.name),
    words: nights.waiting[file.reason],
    link: null,
  }));
  const outcome = outcomeOf(format, night);
  const sums = nightSums(files);
  const page = pageOf(night, place);
  const sections: readonly Section[] = [
    { title: null, lines: [], words: [outcome, wentOutText(format, sums)] },
    section(format, problems.length > 0 ? morning.needs : null, problems),
    section(format, left.length > 0 ? nights.waitingFiles : null, left, waitingCount(waiting)),
  ];
  return {
    subject: fill(morning.subject, { application: place.application, date: format.date(night.date), outcome }),
    text: textOf(sections, page === null ? null : `${morning.page}: ${page}`),
    html: htmlOf(format, sections, page),
    data: dataOf(night, place, { ...sums, page, outcome }),
  };
}

function pageOf({ date }: NightOutcome, { application, isOneOfSeveral, consoleUrl }: MessagePlace): string | null {
  if (consoleUrl === null) return null;
  return `${consoleUrl}/nights/${date}${isOneOfSeveral ? `?application=${encodeURIComponent(application)}` : ''}`;
}

/** Two files with one invoice show it twice: the part of an earlier file is no document of this night. */
function wentOutText(
  { texts: { morning }, plural, count }: MessageFormat,
  { invoices, issued, alreadyIssued }: NightSums,
): string {
  if (alreadyIssued === 0) return plural(morning.wentOut, issued, invoices);
  return fill(plural(morning.wentOutBefore, issued, invoices), { before: count(alreadyIssued) });
}

interface Section {
  readonly title: string | null;
  readonly words: readonly string[];
  readonly lines: readonly Line[];
}

function section(
  { count, texts }: MessageFormat,
  title: string | null,
  lines: readonly Line[],
  all = lines.length,
): Section {
  const more = all - MOST_FILES;
  const words = more > 0 ? [fill(texts.morning.more, { n: count(more) })] : [];
  return { title, lines: lines.slice(0, MOST_FILES), words };
}

function urgent(files: readonly NightlyRunEntry[]): readonly NightlyRunEntry[] {
  return files
    .filter(({ verdict }) => verdict !== 'issued')
    .toSorted((a, b) => URGENT_FIRST.indexOf(a.verdict) - URGENT_FIRST.indexOf(b.verdict));
}

function lineOf(format: MessageFormat, file: NightlyRunEntry, { consoleUrl }: MessagePlace): Line {
  const link = consoleUrl === null || file.batchId === null ? null : `${consoleUrl}/batches/${file.batchId}`;
  // The doubt comes first: who corrects rows or sends again what is in doubt may issue it once more.
  const doubt = doubtText(format, file);
  const words = wordsOf(format, file, doubt !== null);
  return { name: plainText(file.name), words: doubt === null ? words : `${doubt} ${words}`, link };
}

/** What is wrong with a file, and what to do. `isSaid`: something that is wrong is said before it. */
function wordsOf({ texts, plural }: MessageFormat, file: NightlyRunEntry, isSaid: boolean): string {
  const { nights, morning } = texts;
  const missing = file.invoices - file.issued;
  const notOut = missing > 0 ? plural(nights.notOut, missing, file.invoices) : null;
  if (file.waitsFor === 'total-unusual') return nights.waitsFor[file.waitsFor];
  if (file.waitsFor === 'resume')
    return [...(notOut === null ? [] : [notOut]), nights.waitsFor[file.waitsFor]].join(' ');
  if (file.remarks?.some(({ kind }) => kind === 'changed') === true) return texts.remarks.changed;
  const verdict = file.verdict === 'issued' ? 'attention' : file.verdict;
  const what =
    verdict === 'attention' && notOut !== null
      ? notOut
      : (lostRowsText({ texts, plural }, file) ?? (isSaid ? null : `${nights.verdicts[verdict]}.`));
  const next = verdict === 'attention' && file.corrections === null ? morning.readReport : morning.toDo[verdict];
  return what === null ? next : `${what} ${next}`;
}

/** Null: none of its invoices is in doubt. */
function doubtText({ language, plural }: MessageFormat, { remarks = [] }: NightlyRunEntry): string | null {
  const doubt = remarks.find(({ kind }) => kind === 'contradicted');
  return doubt?.kind === 'contradicted' ? plural(CONTRADICTION_TEXTS[language].sentence, doubt.n) : null;
}

/** Null: of its rows none is lost. */
function lostRowsText(
  { texts, plural }: Pick<MessageFormat, 'texts' | 'plural'>,
  { remarks = [] }: NightlyRunEntry,
): string | null {
  const lost = remarks.find(({ kind }) => kind === 'rows-without-invoice');
  return lost?.kind === 'rows-without-invoice' ? plural(texts.remarks[lost.kind], lost.n) : null;
}

function outcomeOf({ texts: { nights }, plural }: MessageFormat, { run }: NightOutcome): string {
  const all = run.files.length + waitingCount(run.waiting);
  const open = all - run.files.filter(({ verdict }) => verdict === 'issued').length;
  if (all === 0) return nights.empty;
  return open === 0 ? plural(nights.allOut, all) : plural(nights.open, open, all);
}

function textOf(sections: readonly Section[], last: string | null): string {
  const blocks = sections.flatMap(({ title, words, lines }) => {
    const items = lines.map(
      ({ name, words: about, link }) => `- ${name}: ${about}${link === null ? '' : `\n  ${link}`}`,
    );
    const block = [...(title === null ? [] : [title, '']), ...items, ...words];
    return block.length === 0 ? [] : [block.join('\n')];
  });
  return `${[...blocks, ...(last === null ? [] : [last])].join('\n\n')}\n`;
}

function htmlOf({ language, texts }: MessageFormat, sections: readonly Section[], page: string | null): string {
  const link = (address: string | null, name: string): SafeHtml =>
    address === null ? html`${name}` : html`<a href="${address}">${name}</a>`;
  const blocks = sections.map(
    ({ title, words, lines }) => html`
      ${title === null ? '' : html`<h2>${title}</h2>`}
      ${lines.length === 0 ? '' : html`<ul>${lines.map((line) => html`<li><strong>${link(line.link, line.name)}</strong>: ${line.words}</li>`)}</ul>`}
      ${words.map((word) => html`<p>${word}</p>`)}`,
  );
  return html`<!doctype html><html lang="${language}"><head><meta charset="utf-8" /></head><body>
    ${blocks}
    ${page === null ? '' : html`<p>${link(page, texts.morning.page)}</p>`}</body></html>`.safe;
}

function dataOf(
  { date, run }: NightOutcome,
  { application }: MessagePlace,
  known: NightSums & { readonly page: string | null; readonly outcome: string },
): Readonly<Record<string, unknown>> {
  return {
    ...{ application, date, night: run.night, ...known },
    files: run.files.map(({ name, verdict, batchId, waitsFor = null, invoices, issued, alreadyIssued = 0 }) => ({
      ...{ name, verdict, batchId, waitsFor, invoices, issued, alreadyIssued },
    })),
    waiting: run.waiting.map(({ name, reason, more }) => ({ name, reason, ...(more === undefined ? {} : { more }) })),
  };
}

/** The id of a message: of one night on one way, the same for each try. */
export function messageIdOf(channel: MessageChannel, { application }: MessagePlace, { run }: NightOutcome): string {
  return `night-${application}-${run.night}-${channel}`;
}
