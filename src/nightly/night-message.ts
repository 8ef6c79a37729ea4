import { html, type SafeHtml } from '../texts/html.ts';
import { nightlySummary, nightSums, type NightSums } from './run-log.ts';
import { chooseLanguage, type Speech } from '../texts/languages.ts';
import { fill, plainText } from '../texts/fill.ts';
import { NIGHT_TEXTS, nightVerdict, remarkText, waitingCount } from '../texts/nights/night-verdict.ts';
import type { OutcomeFormat } from '../texts/outcomes/outcome-html.ts';
import { speechFormat } from '../texts/speech-format.ts';
import type { MessageChannel, NightlyRunEntry, NightlyRunState } from '../domain/records/night.ts';
import type { Config, MailConfig } from '../app/config/config.ts';
import { createTransport } from 'nodemailer';
import { LoteError } from '../domain/errors.ts';

/** The nightly run that a message reports, and the date under which it has its page. */
export interface NightOutcome {
  readonly date: string;
  readonly run: NightlyRunState;
}

interface NightMessage {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

interface MessagePlace {
  readonly application: string;
  /** Null if the address of the console is unknown. */
  readonly consoleUrl: string | null;
}

interface Line {
  readonly name: string;
  readonly words: string;
  readonly link: string | null;
}

/** Limit of files in a message; the page of the night has all of them. */
const MOST_FILES = 50;
const URGENT_FIRST = ['failed', 'refused', 'attention'];

/** Says what was issued, what needs a person, and what to do. It holds no reference, no tax number and no name of a customer. */
export function nightMessage(night: NightOutcome, speech: Speech, place: MessagePlace): NightMessage {
  const format: OutcomeFormat = { ...speechFormat(speech), texts: NIGHT_TEXTS[speech.language] };
  const { morning, nights } = format.texts;
  const { files, waiting } = night.run;
  const problems = urgent(files).map((file) => lineOf(format, file, place));
  const left = waiting.map(({ name, reason }) => ({
    name: plainText(name),
    words: nights.waiting[reason],
    link: null,
  }));
  const outcome = nightVerdict(format.texts, format.plural, nightlySummary(night.date, [night.run]));
  const sums = nightSums(files);
  const page = place.consoleUrl === null ? null : `${place.consoleUrl}/nights/${night.date}`;
  const sections: readonly Section[] = [
    { title: null, lines: [], words: [outcome, wentOutText(format, sums)] },
    section(format, problems.length > 0 ? morning.needs : null, problems),
    section(format, left.length > 0 ? nights.waitingFiles : null, left, waitingCount(waiting)),
  ];
  return {
    subject: fill(morning.subject, { application: place.application, date: format.date(night.date), outcome }),
    text: textOf(sections, page === null ? null : `${morning.page}: ${page}`),
    html: htmlOf(format, sections, page),
  };
}

/** Says how much was issued. If an earlier file had some of these invoices, names their number: they are no documents of this night. */
function wentOutText(
  { texts: { morning }, plural, count }: OutcomeFormat,
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
  { count, texts }: OutcomeFormat,
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

/** Returns the line of a file, in the words of the page of the night. */
function lineOf(format: OutcomeFormat, file: NightlyRunEntry, { consoleUrl }: MessagePlace): Line {
  const link = consoleUrl === null || file.batchId === null ? null : `${consoleUrl}/batches/${file.batchId}`;
  const words = file.remarks.map((remark) => remarkText(format, remark)).join(' ');
  return { name: plainText(file.name), words: plainText(words), link };
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

function htmlOf({ language, texts }: OutcomeFormat, sections: readonly Section[], page: string | null): string {
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

/** Returns the id of the message of one night on one channel, the same for each attempt. */
export function messageIdOf(channel: MessageChannel, { application }: MessagePlace, { run }: NightOutcome): string {
  return `night-${application}-${run.night}-${channel}`;
}

type MessageSettings = Pick<Config, 'application' | 'language' | 'mail'>;

/** Sends the message of a night to the operators. */
export type NightMessages = ReturnType<typeof createNightMessages>;

/** Creates the sender of a night's message, by e-mail if it is configured. */
export function createNightMessages(
  { application, language, mail }: MessageSettings,
  { consoleUrl }: { readonly consoleUrl: () => string | null },
) {
  const channels: readonly MessageChannel[] = mail === null ? [] : ['email'];
  return {
    channels,
    /**
     * Sends the message once; a repeat after a lost answer has the same id. Returns the problem of a message that was
     * taken, or null.
     * @throws LoteError `message-unsent` when it may be taken later, `message-refused` when it will not
     */
    async send(channel: MessageChannel, night: NightOutcome): Promise<string | null> {
      if (mail === null) return null;
      const place = { application, consoleUrl: consoleUrl() };
      const message = nightMessage(night, chooseLanguage(language), place);
      const id = messageIdOf(channel, place, night);
      const domain = /@([A-Za-z0-9.-]+)>?$/.exec(mail.from)?.[1] ?? 'lote.invalid';
      return sendMail(mail, { ...message, messageId: `<${id}@${domain}>` });
    },
  };
}

/** Limit of each step of a conversation; Lote tries a slower server again later. */
const TIMEOUT_MS = 20_000;
/** Limit of the whole conversation, because a server that answers each step in time could hold it for ever. */
const WHOLE_TIMEOUT_MS = 120_000;

/**
 * Sends one message by SMTP. `messageId` is the same for each attempt, so that a mailbox can recognise a message that it gets twice.
 * @returns how many addresses were refused, in words, or null. @throws LoteError `message-refused` (5xx), `message-unsent`
 */
export async function sendMail(
  mail: MailConfig,
  message: NightMessage & { readonly messageId: string },
  { stepMs, wholeMs } = { stepMs: TIMEOUT_MS, wholeMs: WHOLE_TIMEOUT_MS },
): Promise<string | null> {
  const transport = createTransport({
    host: mail.host,
    port: mail.port,
    secure: mail.tls === 'implicit',
    requireTLS: mail.tls === 'starttls',
    ignoreTLS: mail.tls === 'none',
    ...(mail.auth === null ? {} : { auth: { user: mail.auth.user, pass: mail.auth.password } }),
    ...{ connectionTimeout: stepMs, greetingTimeout: stepMs, socketTimeout: stepMs, dnsTimeout: stepMs },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  const signal = AbortSignal.timeout(wholeMs);
  try {
    const { rejected } = await transport.sendMail({ ...message, from: mail.from, to: [...mail.to], signal });
    return rejected.length === 0 ? null : `${rejected.length} of ${mail.to.length} addresses were refused`;
  } catch (error) {
    throw signal.aborted ? unsent(`no end of the conversation within ${wholeMs / 1_000} s`) : failureOf(error);
  } finally {
    transport.close();
  }
}

function failureOf(error: unknown): LoteError {
  const { responseCode, command, code } = error as { responseCode?: unknown; command?: unknown; code?: unknown };
  const word = (value: unknown): string => (typeof value === 'string' && /^[A-Z ]{1,20}$/.test(value) ? value : '');
  if (typeof responseCode !== 'number') return unsent(word(code) || 'no answer');
  const found = `${responseCode}${word(command) === '' ? '' : ` at ${word(command)}`}`;
  if (responseCode < 500) return unsent(found);
  const message = `Sending the message of a night by e-mail: the server must take it, found ${found}. It is not tried again: look at LOTE_SMTP_* and LOTE_MAIL_*.`;
  return new LoteError('message-refused', message);
}

function unsent(found: string): LoteError {
  const message = `Sending the message of a night by e-mail: the server of LOTE_SMTP_URL must take it, found ${found}. It is tried again.`;
  return new LoteError('message-unsent', message);
}
