import type { TemporalConfig } from '../../runtime/config/config.ts';
import { certificateValidity } from '../../runtime/temporal/certificate-validity.ts';
import { placeOf } from '../temporal/connect-client.ts';
import { fine, trouble, unknown, type Check } from './check.ts';

const NAME = 'temporal certificate';
/** Of its validity: whatever renews a certificate does so earlier. */
const LAST_PART = 0.1;
const RENEW =
  'Put a new certificate and its key into the files that TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH name. A process that Temporal refuses with the old one then ends, to be started again.';

/** Looks at the certificate that Lote shows to Temporal, as its file holds it now; nothing without one. `now`: epoch milliseconds. */
export async function checkCertificate(temporal: TemporalConfig, now: number): Promise<readonly Check[]> {
  const { address, tls } = temporal;
  const path = tls?.clientCertPath ?? null;
  if (address === null || path === null) return [];
  const place = await placeOf(address, temporal).catch(() => null);
  const validity = place === null ? null : certificateValidity(place);
  if (validity === null) return [trouble(NAME, `${path} or its key cannot be read, or is none.`, RENEW)];
  const until = new Date(validity.to).toISOString();
  if (validity.to < now) return [trouble(NAME, `${path} expired at ${until}.`, RENEW)];
  const isNearEnd = validity.to - now < (validity.to - validity.from) * LAST_PART;
  return [
    isNearEnd ? unknown(NAME, `${path} is valid only until ${until}`, RENEW) : fine(NAME, `${path}, until ${until}`),
  ];
}
