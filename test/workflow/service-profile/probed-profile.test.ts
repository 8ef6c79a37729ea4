import { describe, expect, it } from 'vitest';
import { isMistake, readProfileFile } from '../../../src/service-profile/check/read-profile-file.ts';
import { envelopeLike } from '../../services/envelope-like.ts';
import { FAILING_TAX_CODE, REFUSED_TAX_CODE } from '../../services/fake/operations.ts';
import { jsonApiLike } from '../../services/json-api-like.ts';
import { shopifyLike } from '../../services/shopify-like.ts';
import { stripeLike } from '../../services/stripe-like.ts';
import type { TestInvoice } from '../../support/files/batch-file.ts';
import { readReportOf } from '../../support/lote/stack.ts';
import { probeFamily } from '../../support/probe-family.ts';
import { withFamily } from '../../support/service-family-stack.ts';

const TIMEOUT_MS = 300_000;
/** It stands on a late page of the service's list: a list that is not read to its end creates it a second time. */
const LISTED_NIF = '501964843';
const ENDS: Readonly<Record<string, string>> = { [REFUSED_TAX_CODE]: 'rejected', [FAILING_TAX_CODE]: 'failed' };

const BATCH: readonly TestInvoice[] = Array.from({ length: 24 }, (_, at) => ({
  ref: `F-${at + 1}`,
  nif: at % 2 === 0 ? LISTED_NIF : '502011378',
  taxCode: at % 8 === 3 ? REFUSED_TAX_CODE : at % 8 === 5 ? FAILING_TAX_CODE : 'IVA_23',
}));

function documentOf(proposal: string): Readonly<Record<string, unknown>> {
  const read = readProfileFile(proposal);
  if (isMistake(read)) throw new Error(read.message);
  return read.document;
}

describe('a batch by a profile that a probe proposed', { concurrent: true, timeout: TIMEOUT_MS }, () => {
  it.each([stripeLike, envelopeLike, jsonApiLike, shopifyLike])('ends right at $name', async (family) => {
    const { result: probed } = await probeFamily(family);
    const profile = documentOf(probed.proposal);

    await withFamily(
      { ...family, profile },
      { existing: [LISTED_NIF], faults: { lostMerchantAnswers: 1 } },
      async (stack, fake) => {
        const result = await stack.run('probed.csv', BATCH);

        const { invoices } = await readReportOf(result);
        const expected = BATCH.map(({ ref, taxCode = '' }) => ({ ref, state: ENDS[taxCode] ?? 'issued' }));
        expect(invoices.map(({ ref, state }) => ({ ref, state }))).toEqual(expected);
        const booked = expected.filter(({ state }) => state !== 'rejected').map(({ state }) => state);
        expect(fake.books.invoices.map(({ status }) => status).toSorted()).toEqual(booked.toSorted());
        expect(fake.books.merchants.filter(({ nif }) => nif === LISTED_NIF)).toHaveLength(1);
        const refused = fake.deliveries.statuses.filter((status) => status >= 400 && status <= 499);
        expect(refused, 'deliveries that the receiver refused').toEqual([]);
      },
    );
  });
});
