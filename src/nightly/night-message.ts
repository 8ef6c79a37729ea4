import { nightlySummary, nightSums, type NightSums } from './run-log.ts';
import { chooseLanguage, type Speech } from '../texts/languages.ts';
import { fill, plainText } from '../texts/fill.ts';
import { NIGHT_TEXTS, nightVerdict, remarkText, waitingCount } from '../texts/nights/night-verdict.ts';
import type { OutcomeFormat } from '../texts/outcomes/outcome-html.ts';
import { speechFormat } from '../texts/speech-format.ts';
import type { NightlyRunEntry, NightlyRunState } from '../domain/records/night.ts';
import type { Config, MailConfig } from '../app/config/config.ts';
import { createTransport } from 'nodemailer';
import { LoteError } from '../domain/errors.ts';

/** The nightly run that a message reports, and the date under which it has its page. */
export interface NightOutcome {
  readonly date: string;
  readonly run: NightlyRunState;
}

/** A message in plain text, which every mailbox shows and no file name can change. */
interface NightMessage {
  readonly subject: string;
  readonly text: string;
}

interface MessagePlace {
  readonly application: string;
  /** Null if the address of the console is unknown. */
  readonly consoleUrl: string | null;
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
  const left = waiting.map(({ name, reason }) => `- ${plainText(name)}: ${nights.waiting[reason]}`);
  const outcome = nightVerdict(format.texts, format.plural, nightlySummary(night.date, [night.run]));
  const blocks = [
    `${outcome}\n${wentOutText(format, nightSums(files))}`,
    ...section(format, morning.needs, problems),
    ...section(format, nights.waitingFiles, left, waitingCount(waiting)),
    ...(place.consoleUrl === null ? [] : [`${morning.page}: ${place.consoleUrl}/nights/${night.date}`]),
  ];
  return {
    subject: fill(morning.subject, { application: place.application, date: format.date(night.date), outcome }),
    text: `${blocks.join('\n\n')}\n`,
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

/** Returns the blocks of a section: none without lines, else its title, and its first lines with the number of the others. */
function section(
  { count, texts }: OutcomeFormat,
  title: string,
  lines: readonly string[],
  all = lines.length,
): readonly string[] {
  if (lines.length === 0) return [];
  const more = all - MOST_FILES;
  const rest = more > 0 ? [fill(texts.morning.more, { n: count(more) })] : [];
  return [title, [...lines.slice(0, MOST_FILES), ...rest].join('\n')];
}

function urgent(files: readonly NightlyRunEntry[]): readonly NightlyRunEntry[] {
  return files
    .filter(({ verdict }) => verdict !== 'issued')
    .toSorted((a, b) => URGENT_FIRST.indexOf(a.verdict) - URGENT_FIRST.indexOf(b.verdict));
}

/** Returns the line of a file, in the words of the page of the night. */
function lineOf(format: OutcomeFormat, file: NightlyRunEntry, { consoleUrl }: MessagePlace): string {
  const words = file.remarks.map((remark) => remarkText(format, remark)).join(' ');
  const link = consoleUrl === null || file.batchId === null ? '' : `\n  ${consoleUrl}/batches/${file.batchId}`;
  return `- ${plainText(file.name)}: ${plainText(words)}${link}`;
}

/** Returns the id of the message of a night, the same for each attempt, so that a mailbox can recognise a repeat. */
export function messageIdOf(from: string, { application }: MessagePlace, { run }: NightOutcome): string {
  const domain = /@([A-Za-z0-9.-]+)>?$/.exec(from)?.[1] ?? 'lote.invalid';
  return `<night-${application}-${run.night}-email@${domain}>`;
}

/** Sends the message of a night to the operators. */
export interface NightMessages {
  /**
   * Sends the message once; a repeat after a lost answer has the same id. Returns the problem of a message that was
   * taken, or null.
   * @throws LoteError `message-unsent` when it may be taken later, `message-refused` when it will not
   */
  send(night: NightOutcome): Promise<string | null>;
}

/** Creates the sender of a night's message; null if e-mail is not configured. */
export function createNightMessages(
  { application, language, mail }: Pick<Config, 'application' | 'language' | 'mail'>,
  consoleUrl: () => string | null,
): NightMessages | null {
  if (mail === null) return null;
  return {
    send(night) {
      const place = { application, consoleUrl: consoleUrl() };
      const message = nightMessage(night, chooseLanguage(language), place);
      return sendMail(mail, { ...message, messageId: messageIdOf(mail.from, place, night) });
    },
  };
}

/** Limit of each step of a conversation; Lote tries a slower server again later. */
const TIMEOUT_MS = 20_000;
/** Limit of the whole conversation, because a server that answers each step in time could hold it for ever. */
const WHOLE_TIMEOUT_MS = 120_000;

/**
 * Sends one message by SMTP.
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
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    dnsTimeout: stepMs,
    disableFileAccess: true,
    disableUrlAccess: true,
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
