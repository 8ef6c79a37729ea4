import { z } from 'zod';

/** Of `LOTE_SMTP_URL`; `implicit`: TLS from the first byte, `starttls`: asked for, and nothing is said without it. */
export interface MailConfig {
  readonly host: string;
  readonly port: number;
  readonly tls: 'implicit' | 'starttls' | 'none';
  readonly auth: { readonly user: string; readonly password: string } | null;
  /** PEM file of the authority that the server's certificate is proved by; null: those of the system. */
  readonly caCertPath: string | null;
  readonly from: string;
  readonly to: readonly string[];
}

/** Ways by which the message of a night goes out; null: not by this one. */
export interface MessageConfig {
  readonly mail: MailConfig | null;
  readonly webhook: { readonly url: string; readonly secret: string } | null;
}

/** Ports of submission: RFC 8314 for `smtps`, RFC 6409 for `smtp`. */
const PORTS = { 'smtps:': 465, 'smtp:': 587 } as const;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** `Name <address>` or an address alone: nothing that could end a header. */
const ADDRESS = /^(?:[^<>\p{Cc},;"]{1,80} )?<?[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}>?$/u;
const MOST_ADDRESSES = 20;
/** Standard Webhooks: 24 to 64 bytes. */
const SHORTEST_KEY = 24;
const LONGEST_KEY = 64;

/** Language of what is written for people, with a region or without. */
export const envLanguage = z.string().regex(/^(?:en|pt|es)(?:-[A-Z]{2})?$/, {
  message: 'must be en, pt or es, with a region such as pt-BR or without',
});

/** Address of a mail server, without credentials: they are secrets, and an address is not. */
export const envSmtpUrl = z.string().refine((text) => smtpUrl(text) !== null, {
  message: 'must be smtp://host or smtps://host, with a port or without, and without user and password',
});

/** One sender. */
export const envMailFrom = z.string().regex(ADDRESS, { message: 'must be an e-mail address, or Name <address>' });

/** Who gets the message, with commas between. */
export const envMailTo = z.string().transform((text, context): readonly string[] => {
  const addresses = text.split(',').map((address) => address.trim());
  if (addresses.length <= MOST_ADDRESSES && addresses.every((address) => ADDRESS.test(address))) return addresses;
  context.addIssue({
    code: 'custom',
    message: `must be e-mail addresses with commas between, ${MOST_ADDRESSES} at most`,
  });
  return z.NEVER;
});

/** The signing secret of Standard Webhooks. */
export const envMessageSecret = z.string().refine(
  (text) => {
    const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1];
    const bytes = base64 === undefined ? 0 : Buffer.from(base64, 'base64').length;
    return bytes >= SHORTEST_KEY && bytes <= LONGEST_KEY;
  },
  { message: `must be whsec_ and ${SHORTEST_KEY} to ${LONGEST_KEY} bytes in base64` },
);

function smtpUrl(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  const hasPath = url.pathname !== '' && url.pathname !== '/';
  return (url.protocol === 'smtp:' || url.protocol === 'smtps:') && url.hostname !== '' && isPlain && !hasPath
    ? url
    : null;
}

/** What the environment says of messages. */
export interface MessageEnv {
  readonly LOTE_SMTP_URL?: string | undefined;
  readonly LOTE_SMTP_USER?: string | undefined;
  readonly LOTE_SMTP_PASSWORD?: string | undefined;
  readonly LOTE_SMTP_TLS: 'required' | 'none';
  readonly LOTE_SMTP_CA_CERT_PATH?: string | undefined;
  readonly LOTE_MAIL_FROM?: string | undefined;
  readonly LOTE_MAIL_TO?: readonly string[] | undefined;
  readonly LOTE_MESSAGE_URL?: string | undefined;
  readonly LOTE_MESSAGE_SECRET?: string | undefined;
}

/** The ways of messages; call it after `messageContradictions` has found nothing. */
export function messageConfig(env: MessageEnv, path: (relative: string) => string): MessageConfig {
  const { LOTE_MESSAGE_URL: url, LOTE_MESSAGE_SECRET: secret } = env;
  return {
    mail: mailConfig(env, path),
    webhook: url === undefined || secret === undefined ? null : { url, secret },
  };
}

function mailConfig(env: MessageEnv, path: (relative: string) => string): MailConfig | null {
  const url = smtpUrl(env.LOTE_SMTP_URL ?? '');
  const { LOTE_MAIL_FROM: from, LOTE_MAIL_TO: to, LOTE_SMTP_USER: user, LOTE_SMTP_PASSWORD: password } = env;
  if (url === null || from === undefined || to === undefined) return null;
  const protocol = url.protocol === 'smtps:' ? 'smtps:' : 'smtp:';
  const caCertPath = env.LOTE_SMTP_CA_CERT_PATH;
  return {
    host: url.hostname.replace(/^\[|\]$/gu, ''),
    port: url.port === '' ? PORTS[protocol] : Number(url.port),
    tls: protocol === 'smtps:' ? 'implicit' : env.LOTE_SMTP_TLS === 'none' ? 'none' : 'starttls',
    auth: user === undefined || password === undefined ? null : { user, password },
    caCertPath: caCertPath === undefined ? null : path(caCertPath),
    ...{ from, to },
  };
}

/** Settings that cannot hold together, each in a sentence. */
export function messageContradictions(env: MessageEnv): readonly string[] {
  const mail = [env.LOTE_SMTP_URL, env.LOTE_MAIL_FROM, env.LOTE_MAIL_TO].map((value) => value !== undefined);
  const login = [env.LOTE_SMTP_USER, env.LOTE_SMTP_PASSWORD].map((value) => value !== undefined);
  const hook = [env.LOTE_MESSAGE_URL, env.LOTE_MESSAGE_SECRET].map((value) => value !== undefined);
  return [
    ...(isPartial(mail)
      ? ['LOTE_SMTP_URL, LOTE_MAIL_FROM and LOTE_MAIL_TO must be set together; some are missing.']
      : []),
    ...(isPartial(login)
      ? ['LOTE_SMTP_USER and LOTE_SMTP_PASSWORD (or LOTE_SMTP_PASSWORD_FILE) must be set together; found one of them.']
      : []),
    ...(isPartial(hook)
      ? [
          'LOTE_MESSAGE_URL and LOTE_MESSAGE_SECRET (or LOTE_MESSAGE_SECRET_FILE) must be set together; found one of them.',
        ]
      : []),
    ...(saysPasswordAloud(env)
      ? ['LOTE_SMTP_TLS must not be none with a password, except on this machine: everybody on the way would read it.']
      : []),
  ];
}

function isPartial(set: readonly boolean[]): boolean {
  return set.includes(true) && set.includes(false);
}

function saysPasswordAloud({ LOTE_SMTP_URL, LOTE_SMTP_TLS, LOTE_SMTP_PASSWORD }: MessageEnv): boolean {
  const url = smtpUrl(LOTE_SMTP_URL ?? '');
  if (url === null || url.protocol === 'smtps:' || LOTE_SMTP_TLS !== 'none') return false;
  return LOTE_SMTP_PASSWORD !== undefined && !LOOPBACK.has(url.hostname);
}
