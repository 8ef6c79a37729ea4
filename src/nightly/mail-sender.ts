import { createTransport } from 'nodemailer';
import { LoteError } from '../domain/errors.ts';
import type { MailConfig } from '../app/config/message-config.ts';

/** Each step of a conversation; a server that is slower is asked again later. */
const TIMEOUT_MS = 20_000;
/** Of the whole conversation: a server that answers each step in time could hold it for ever. */
const WHOLE_TIMEOUT_MS = 120_000;

export interface MailMessage {
  /** The same for each try: a mailbox that gets it twice can tell. */
  readonly messageId: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface MailTimes {
  readonly stepMs: number;
  readonly wholeMs: number;
}

/**
 * Sends one message by SMTP. Returns how many addresses were refused although others were taken, in words; null: none.
 * What the server says is left out of errors, for it repeats addresses.
 * @throws LoteError `message-refused` after an answer 5xx, else `message-unsent`
 */
export async function sendMail(
  mail: MailConfig,
  message: MailMessage,
  { stepMs, wholeMs }: MailTimes = { stepMs: TIMEOUT_MS, wholeMs: WHOLE_TIMEOUT_MS },
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
  return new LoteError(
    'message-refused',
    `Sending the message of a night by e-mail: the server must take it, found ${found}. It is not tried again: look at LOTE_SMTP_* and LOTE_MAIL_*.`,
  );
}

function unsent(found: string): LoteError {
  return new LoteError(
    'message-unsent',
    `Sending the message of a night by e-mail: the server of LOTE_SMTP_URL must take it, found ${found}. It is tried again.`,
  );
}
