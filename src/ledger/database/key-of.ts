import type { InvoiceIdentity } from '../../domain/fingerprint.ts';

/** The Idempotency-Key of one generation of an invoice (`idempotencyKeyOf` of the domain is what is passed). */
export type KeyOf = (identity: InvoiceIdentity, fingerprint: string, generation: number) => string;
