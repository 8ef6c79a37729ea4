import { X509Certificate } from 'node:crypto';
import type { TemporalPlace } from './temporal-connection.ts';

/** When the certificate that Lote shows to the server begins and ends to be valid, in epoch milliseconds; null: it shows none, or none that can be read. */
export function certificateValidity({ tls }: TemporalPlace): { readonly from: number; readonly to: number } | null {
  const pem = tls?.clientCertPair?.crt;
  if (pem === undefined) return null;
  try {
    const { validFrom, validTo } = new X509Certificate(pem);
    return { from: Date.parse(validFrom), to: Date.parse(validTo) };
  } catch {
    return null;
  }
}
