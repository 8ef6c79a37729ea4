import type { SliceResult } from '../../../../activities/sending/slice-sender.ts';
import { createSubmitSlice } from '../../../../activities/sending/submit-slice.ts';
import type { ActivityDeps } from '../../../../activities/deps.ts';
import { claimOf, NIF, OTHER_NIF, type InvoiceText, type TestBatch } from '../../ledger/scenario.ts';
import { activityPlaces, asActivity, type ActivityPlace } from '../activity-place.ts';
import type { CreateAnswer, PostLimits } from '../../../../src/domain/records/service-answers.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

export const SAID = { code: 'tax-code', message: 'HTTP 422: unknown tax code' };
export const REFUSED: CreateAnswer = { kind: 'refused', reason: SAID };
export const UNAUTHORIZED = deniedBy('http-401', 'HTTP 401');
export const FORBIDDEN = deniedBy('http-403', 'HTTP 403');

function deniedBy(code: string, message: string): Extract<CreateAnswer, { kind: 'access-denied' }> {
  return { kind: 'access-denied', reason: { code, message }, retryAfterMs: null, mayExist: false };
}

let made = 0;
/** An invoice that no other test has. */
export function created(): CreateAnswer {
  return { kind: 'created', serviceId: `inv_slice_${process.pid}_${(made += 1)}` };
}

/** What the service answers to the nth POST. */
type Answer = (ref: string, nth: number, limits: PostLimits | undefined) => CreateAnswer | Promise<CreateAnswer>;

export interface SlicePlace extends ActivityPlace {
  /** References in the order of their POSTs. */
  readonly posts: string[];
  /** Of these ordinals, or of all. */
  slice(batch: TestBatch, from?: number, to?: number): Promise<SliceResult>;
  /** So many invoices of one merchant, `R0` and so on, or these; their merchants are known. */
  batch(invoices: number | readonly InvoiceText[]): Promise<TestBatch>;
}

interface SliceOptions {
  readonly settings?: Partial<ActivityDeps['settings']>;
  readonly over?: Partial<ActivityDeps>;
  /** What the ledger does otherwise than it does by itself. */
  readonly ledger?: (real: Ledger, place: ActivityPlace) => Partial<Ledger>;
  /** As in `activityPlaces`. */
  readonly isProved?: boolean;
}

/** Workers that send slices, on one ledger for the test file; the service answers by reference. */
export function slicePlaces(): (answer: Answer, maxConcurrency?: number, options?: SliceOptions) => SlicePlace {
  const placeOf = activityPlaces();
  return (answer, maxConcurrency = 1, { settings = {}, over = {}, ledger = () => ({}), isProved = true } = {}) => {
    const posts: string[] = [];
    const bare = placeOf({
      settings: { maxConcurrency, ...settings },
      ...{ over, isProved },
      service: {
        // It knows no merchant but those of which the ledger has the id.
        listMerchants: () => Promise.resolve({ kind: 'list', merchants: [] }),
        createInvoice(body, _key, limits) {
          const { ref } = JSON.parse(body) as { ref: string };
          posts.push(ref);
          return Promise.resolve(answer(ref, posts.length, limits));
        },
      },
    });
    const real = bare.deps.ledger;
    const place = { ...bare, deps: { ...bare.deps, ledger: { ...real, ...ledger(real, bare) } } };
    const submit = createSubmitSlice(place.deps);
    return {
      ...{ ...place, posts },
      slice: ({ batchId }, from = 1, to = 1_000) =>
        asActivity(submit, place.deps, { ledgerId: real.id, ...claimOf(batchId), page: 1, from, to }),
      async batch(invoices) {
        const texts =
          typeof invoices === 'number' ? Array.from({ length: invoices }, (_, at) => ({ ref: `R${at}` })) : invoices;
        const batch = await place.scenario.run(texts, 1_000);
        const merchants = [NIF, OTHER_NIF].map((nif, at) => ({ nif, merchantId: `mrc_${at}` }));
        await real.saveMerchants(place.scenario.application, merchants);
        return batch;
      },
    };
  };
}
