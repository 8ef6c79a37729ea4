import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { TemporalConfig } from '../config/config.ts';
import { connectTemporal, temporalPlace, type TemporalPlace } from './temporal-connection.ts';

const PATIENCE_MS = 5_000;

/**
 * Whether the files of certificates and key hold others than `place`, which a process has read, and the server answers with those: then a start helps. A
 * connection cannot be given another certificate.
 */
export async function isRenewed(place: TemporalPlace, temporal: TemporalConfig): Promise<boolean> {
  // A server of our own wants neither.
  if (place.address !== temporal.address) return false;
  try {
    const now = await temporalPlace(place.address, { ...temporal, apiKey: await keyOf(temporal) });
    if (isDeepStrictEqual(now, place)) return false;
    const connection = await connectTemporal(now, PATIENCE_MS);
    await connection.close();
    return true;
  } catch {
    // Files that are half written or away, and a server that is away for another reason: a start would not help.
    return false;
  }
}

async function keyOf({ apiKey, apiKeyFile }: TemporalConfig): Promise<string | null> {
  return apiKeyFile === null ? apiKey : (await readFile(apiKeyFile, 'utf8')).trim();
}

/** When the certificate that Lote shows to the server begins and ends to be valid, in epoch milliseconds; null: it shows none, or none that can be read. */
export function validityOf({ tls }: TemporalPlace): { readonly from: number; readonly to: number } | null {
  const pem = tls?.clientCertPair?.crt;
  if (pem === undefined) return null;
  try {
    const { validFrom, validTo } = new X509Certificate(pem);
    return { from: Date.parse(validFrom), to: Date.parse(validTo) };
  } catch {
    return null;
  }
}
