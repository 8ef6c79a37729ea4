import { LoteError } from '../../domain/errors.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { ServiceAccount } from '../account/open-service.ts';
import { MOST_REQUESTS } from './probe-calls.ts';
import { INVOICE_SHOWN, type ProbeSubject } from './probe-subject.ts';

const TEST_KEY = 'sk_test_';
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** What must hold before a probe sends anything. */
export interface ProbeTarget {
  readonly account: ServiceAccount;
  readonly profile: ServiceProfile;
  /** The operator said that the key may be a live one. */
  readonly live: boolean;
}

/**
 * Refuses a live key that was not said, and an address to which the key must not go.
 * @throws LoteError `usage`; the key is never in the message.
 */
export function requireProbeTarget({ account, profile, live }: ProbeTarget): void {
  const isTest = account.apiKey.startsWith(TEST_KEY);
  if (!isTest && (!live || profile.environment === 'test'))
    throw new LoteError(
      'usage',
      `Probing: INVOICING_API_KEY must be a test key (${TEST_KEY}…), because a merchant and an invoice are created; found another key. Nothing was sent. ` +
        (live
          ? 'The profile says environment "test".'
          : 'If it must be this one, say --live: the invoice is then real.'),
    );
  const url = new URL(account.baseUrl);
  if (url.protocol !== 'https:' && !isLoopback(account.baseUrl) && !profile.allowPlainHttp)
    throw new LoteError(
      'usage',
      `Probing: INVOICING_BASE_URL must be an https address or on this machine, found ${url.protocol}//${url.hostname}. Nothing was sent. Use the https address, or set "allowPlainHttp": true in the profile.`,
    );
}

/** Whether the service is on this machine, so that it reaches a receiver here. */
export function isLoopback(baseUrl: string): boolean {
  return LOOPBACK.test(new URL(baseUrl).hostname);
}

/** What a probe will do. */
export interface ProbePlan {
  readonly account: ServiceAccount;
  readonly profileName: string;
  readonly subject: ProbeSubject;
  /** Null: nothing is registered. */
  readonly webhook: string | null;
  readonly waitMs: number;
}

/** Everything that a probe will create, for a person to confirm. */
export function planText({ account, profileName, subject, webhook, waitMs }: ProbePlan): string {
  const { nif, legalName, email, currency, taxCode, failingTaxCode } = subject;
  const key = account.apiKey.startsWith(TEST_KEY) ? 'test key' : 'LIVE KEY';
  return [
    `Service   ${account.baseUrl} (${key}), requests by ${profileName}`,
    'This probe creates at the service:',
    `  a merchant   ${legalName}, tax number ${nif}, ${email}`,
    `  an invoice   in ${currency}, ${INVOICE_SHOWN}, tax code ${taxCode}`,
    ...(failingTaxCode === null ? [] : [`  an invoice   the same with tax code ${failingTaxCode}, which must fail`]),
    ...(webhook === null ? [] : [`  a webhook    ${webhook}; take it away at the service afterwards`]),
    'It then sends the invoice again under the same key, with the same and with other bytes, and one without lines:',
    'a service that keeps its keys and checks its invoices creates nothing for these three.',
    `At most ${MOST_REQUESTS + 4} requests; an invoice may take ${Math.round(waitMs / 1000)} s to settle.`,
    '',
  ].join('\n');
}
