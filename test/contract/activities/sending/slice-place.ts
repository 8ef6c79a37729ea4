import type { SliceResult } from '../../../../activities/sending/slice-sender.ts';
import { createSubmitSlice } from '../../../../activities/sending/submit-slice.ts';
import type { ActivityDeps } from '../../../../activities/deps.ts';
import { MockActivityEnvironment } from '@temporalio/testing';
import { claimOf, NIF, NOW, OTHER_NIF, REASON, type InvoiceText, type TestBatch } from '../../ledger/scenario.ts';
import { activityPlaces, type ActivityPlace } from '../activity-place.ts';
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
  /** Of all ordinals unless limited; on another worker with `deps`, or in this environment. */
  slice(batch: TestBatch, how?: SliceRun): Promise<SliceResult>;
  /** So many invoices of one merchant, `R0` and so on, or these; their merchants are known. */
  batch(invoices: number | readonly InvoiceText[]): Promise<TestBatch>;
}

interface SliceRun {
  readonly from?: number;
  readonly to?: number;
  readonly deps?: ActivityDeps;
  readonly env?: MockActivityEnvironment;
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
      slice({ batchId }, { from = 1, to = 1_000, deps, env } = {}) {
        const input = { ledgerId: real.id, ...claimOf(batchId), page: 1, from, to };
        const run = deps === undefined ? submit : createSubmitSlice(deps);
        return (env ?? new MockActivityEnvironment()).run(run, deps ?? place.deps, input) as Promise<SliceResult>;
      },
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

/** The circuit as the ledger has it. */
export function breakerOf({ deps }: ActivityPlace) {
  return deps.ledger.breaker(deps.service.baseUrl);
}

/** Opens the circuit for so long; by default the time of the next probe has come. */
export function openCircuit({ deps }: ActivityPlace, forMs = 0): Promise<void> {
  const { baseUrl } = deps.service;
  return deps.ledger.openBreaker({ baseUrl, reason: REASON, openedAt: NOW - 5_000, probeAfter: deps.now() + forMs });
}
