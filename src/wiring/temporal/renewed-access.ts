import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { Client, isGrpcServiceError } from '@temporalio/client';
import type { TemporalConfig } from '../../runtime/config/config.ts';
import { GRPC_STATUS } from '../../runtime/temporal/grpc-status.ts';
import { temporalPlace, unrepeatedTemporal, type TemporalPlace } from '../../runtime/temporal/temporal-connection.ts';
import { findNamespace } from './connect-client.ts';

const PATIENCE_MS = 3_000;

/** The certificate and key that this process read at its start, and the configuration by which it reads them again. */
export interface ReadAccess {
  readonly place: TemporalPlace;
  readonly temporal: TemporalConfig;
}

/**
 * Whether only another process can reach the server: it refuses the certificates and key that this process has read, and answers to what their files
 * hold now. A connection cannot be given others. Files are renewed weeks before the old ones end, so that they differ while all is well; the old ones
 * are asked again last, because a server that was away for a moment has refused nobody.
 */
export async function isRenewed({ place, temporal }: ReadAccess): Promise<boolean> {
  // A server of our own wants neither.
  if (place.address !== temporal.address) return false;
  const now = await readAgain(place.address, temporal);
  if (now === null || isDeepStrictEqual(now, place)) return false;
  const says = (access: TemporalPlace): Promise<Answer> => answerTo(access, temporal.namespace);
  const before = await says(place);
  if (before !== 'refused' && before !== 'denied') return false;
  const renewed = await says(now);
  return isLetIn(renewed, before) && isLetIn(renewed, await says(place));
}

/**
 * Whether the server lets the renewed access in and not the old one. Whom it knows it may still deny the question: it works all the same, if the old
 * one is not known. Where the old one is only denied, nothing but an answer tells them apart.
 */
function isLetIn(renewed: Answer, old: Answer): boolean {
  return old === 'refused'
    ? renewed === 'answered' || renewed === 'denied'
    : old === 'denied' && renewed === 'answered';
}

/** Null: files that are half written, or away. */
async function readAgain(address: string, temporal: TemporalConfig): Promise<TemporalPlace | null> {
  try {
    return await temporalPlace(address, { ...temporal, apiKey: await keyOf(temporal) });
  } catch {
    return null;
  }
}

async function keyOf({ apiKey, apiKeyFile }: TemporalConfig): Promise<string | null> {
  return apiKeyFile === null ? apiKey : (await readFile(apiKeyFile, 'utf8')).trim();
}

/** `denied`: the one who asks has no right to know; `unclear`: nobody answers, or the answer has another reason than who asks. */
type Answer = 'answered' | 'refused' | 'denied' | 'unclear';

/** Of a new connection. Its question wants a right, as all work does: what the server is, it may tell everybody. */
async function answerTo(place: TemporalPlace, namespace: string): Promise<Answer> {
  // Files may hold no certificate: then the connection cannot even be made.
  let client: Client | null = null;
  try {
    client = new Client({ connection: unrepeatedTemporal(place), namespace });
    const asked = client;
    const found = await asked.connection.withDeadline(Date.now() + PATIENCE_MS, () => findNamespace(asked));
    return ANSWERS[found];
  } catch (error) {
    return isRefusal(error) ? 'refused' : 'unclear';
  } finally {
    await client?.connection.close();
  }
}

/** Without the namespace a start does not succeed. */
const ANSWERS = { there: 'answered', denied: 'denied', missing: 'unclear' } as const;

/** gRPC's words for a connection that one side has ended in its handshake; before one, nobody has seen a certificate. */
const ENDED_IN_HANDSHAKE =
  /^No connection established\. Last error: (?!(?:Error: )?(?:connect|getaddrinfo) |null|No addresses)/u;
/** What a proxy such as nginx answers to a certificate that it does not trust. */
const BAD_REQUEST = 'Received HTTP status code 400';

function isRefusal(error: unknown): boolean {
  if (!isGrpcServiceError(error)) return false;
  const { code, details } = error;
  if (code === GRPC_STATUS.unauthenticated) return true;
  if (code === GRPC_STATUS.internal) return details === BAD_REQUEST;
  return code === GRPC_STATUS.unavailable && ENDED_IN_HANDSHAKE.test(details);
}
