import { LOOPBACK_HOSTS, smtpUrl, type Env } from './env-schema.ts';

/** `implicit`: TLS from the first byte; `starttls`: the server must offer it; `none`: a server on this machine. */
export interface MailConfig {
  readonly host: string;
  readonly port: number;
  readonly tls: 'implicit' | 'starttls' | 'none';
  readonly auth: { readonly user: string; readonly password: string } | null;
  readonly from: string;
  readonly to: readonly string[];
}

/** Ports of submission: RFC 8314 for `smtps`, RFC 6409 for `smtp`. */
const PORTS = { 'smtps:': 465, 'smtp:': 587 } as const;

/** How the message of a night goes out; null: it does not. */
export function mailConfig(env: Env): MailConfig | null {
  const url = smtpUrl(env.LOTE_SMTP_URL ?? '');
  const { LOTE_MAIL_FROM: from, LOTE_MAIL_TO: to, LOTE_SMTP_USER: user, LOTE_SMTP_PASSWORD: password } = env;
  if (url === null || from === undefined || to === undefined) return null;
  const protocol = url.protocol === 'smtps:' ? 'smtps:' : 'smtp:';
  return {
    host: url.hostname.replace(/^\[|\]$/gu, ''),
    port: url.port === '' ? PORTS[protocol] : Number(url.port),
    tls: protocol === 'smtps:' ? 'implicit' : LOOPBACK_HOSTS.has(url.hostname) ? 'none' : 'starttls',
    auth: user === undefined || password === undefined ? null : { user, password },
    ...{ from, to },
  };
}
