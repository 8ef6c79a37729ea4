import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { idempotencyKeyOf } from '../../../../src/domain/fingerprint.ts';
import {
  accepted,
  answered,
  createScenario,
  delivery,
  finishStaging,
  invalidInvoice,
  invoiceOf,
  NEXT_KEY,
  NIF,
  NOW,
  OTHER_NIF,
  REASON,
  type Scenario,
  type TestBatch,
  validInvoice,
  recordDeliveries,
} from '../scenario.ts';
import type { BatchInvoice } from '../../../../src/domain/records/batch-record.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { StageInvoice } from '../../../../src/ledger/staging/stage-invoices.ts';

type Ending = 'staged' | 'sending' | 'held' | 'accepted' | 'issued' | 'failed' | 'rejected' | 'unknown' | 'unsettled';

export function stagingContract(ledger: Ledger): void {
  let scenario: Scenario;
  const openScenario = (): void => void (scenario = createScenario(ledger));

  /** A batch whose one invoice has come to this state. */
  async function batchWith(ref: string, state: Ending): Promise<TestBatch> {
    const batch = await scenario.run([ref]);
    const serviceId = scenario.serviceId(ref);
    if (state === 'sending') await batch.freeze(ref);
    if (state === 'held') await batch.hold();
    if (state === 'rejected' || state === 'unknown') await batch.send(ref, { kind: state, reason: REASON });
    if (['accepted', 'issued', 'failed', 'unsettled'].includes(state)) await batch.send(ref, accepted(serviceId));
    if (state === 'issued') await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);
    if (state === 'failed') {
      const [silent] = await ledger.pendingInvoices(batch.batchId, 1, NOW + 1, 1);
      await scenario.ask({ invoiceId: silent?.invoiceId ?? 0, serviceId }, 'failed', { reason: REASON, now: NOW });
    }
    if (state === 'unsettled')
      await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW + 1, reason: REASON, now: NOW });
    expect((await batch.line(ref)).state).toBe(state);
    return batch;
  }

  describe('stageInvoices', () => {
    beforeAll(openScenario);

    it('stages new identities, exactly as they were read', async () => {
      const batch = await scenario.begin();
      const invoice = {
        ...invoiceOf({ ref: 'exact', unitPrice: '0.1' }),
        merchant: { nif: NIF, legalName: 'A & B', email: 'a@b.pt' },
      };
      const staged = validInvoice(
        scenario.application,
        {
          ...invoice,
          lines: [
            {
              description: 'x',
              unitPrice: '1',
              taxCode: 'IVA_23',
              quantity: '123456789012345678901234567890.000000000000000001',
            },
          ],
        },
        1,
      );
      const findings = [
        { row: 2, column: null, code: 'merchant-details-differ', message: 'Warned', severity: 'warning' as const },
      ];
      await ledger.stageInvoices(batch, [{ ...staged, rows: [2, 9], findings }], NOW);
      await finishStaging(ledger, batch, { invoices: 1, rows: 2, pageSize: 2 });

      expect((await batch.sendable())[0]).toMatchObject({
        state: 'staged',
        generation: 1,
        body: null,
        invoice: staged.invoice,
        mayExist: false,
        attempts: 0,
      });
      expect(await batch.lines()).toEqual([
        {
          ordinal: 1,
          page: 1,
          ref: 'exact',
          merchantNif: NIF,
          rows: [2, 9],
          currency: 'EUR',
          net: staged.net,
          state: 'staged',
          serviceId: null,
          idempotencyKey: staged.idempotencyKey,
          generation: 1,
          attempts: 0,
          reason: null,
          findings,
          contradictions: [],
          issuedElsewhere: false,
          flags: [],
          sentAt: null,
          settledAt: null,
        },
      ]);
    });

    it('keeps invalid invoices with the batch only, with the worst finding as their reason', async () => {
      const batch = await scenario.begin();
      await ledger.stageInvoices(batch, [invalidInvoice(1), invalidInvoice(2, { net: '12.5' })], NOW);
      await batch.finishStaging(2);

      expect(await batch.sendable()).toEqual([]);
      const [first] = await batch.lines();
      expect(first).toMatchObject({
        state: 'invalid',
        generation: 0,
        idempotencyKey: null,
        reason: { code: 'quantity-unreadable', message: 'Not a number' },
      });
      expect(first?.findings).toHaveLength(2);
    });

    it('keeps an invalid invoice beside the others whose reference fits into no index', async () => {
      const batch = await scenario.begin();
      // Of 8,000 characters that do not compress.
      const ref = createHash('shake256', { outputLength: 6_000 }).update('reference').digest('base64');
      const valid = scenario.valid('beside', 2);
      const longest = scenario.valid('€'.repeat(200), 3);
      await ledger.stageInvoices(batch, [invalidInvoice(1, { ref }), valid, longest], NOW);
      await batch.finishStaging(3, 3);

      expect((await batch.lines()).map((line) => [line.state, line.ref])).toEqual([
        ['invalid', `${ref.slice(0, 199)}…`],
        ['staged', 'beside'],
        ['staged', '€'.repeat(200)],
      ]);
    });

    describe('a reference that looks like one of an earlier batch and is not the same', () => {
      async function stageRefs(refs: readonly string[], kept = false): Promise<TestBatch> {
        const batch = await scenario.begin();
        await ledger.stageInvoices(
          batch,
          refs.map((ref, index) => ({
            ...scenario.valid(ref, index + 1),
            ...(kept ? { lookAlikesKept: true } : {}),
          })),
          NOW,
        );
        await batch.finishStaging(refs.length);
        return batch;
      }

      async function stageOf(nif: string, ref: string, kept = false): Promise<readonly BatchInvoice[]> {
        const batch = await scenario.begin();
        const invoice = invoiceOf({ ref });
        const merchant = { ...invoice.merchant, nif };
        const staged = validInvoice(scenario.application, { ...invoice, merchant }, 1);
        await ledger.stageInvoices(batch, [{ ...staged, ...(kept ? { lookAlikesKept: true } : {}) }], NOW);
        return batch.lines();
      }

      it.each([
        ['a no-break space after a space', 'LA 1', 'LA\u00a01'],
        ['a space after a no-break space', 'LA\u00a02', 'LA 2'],
        ['a letter in two parts', 'L\u00c3 3', 'LA\u0303 3'],
        ['another odd spelling', 'LA\u00a04', 'LA\u20024'],
        ['a number that lost its zeros in a spreadsheet', '0007', '7'],
        ['a number that got zeros', '8', '08'],
        ['zeros before digits of a reference', 'LG 2026/0007', 'LG 2026/7'],
        ['a digit in another form', 'LH 2\u00b2', 'LH 22'],
        ['a number that lost a zero behind its mark', '9.10', '9.1'],
        ['a number that lost two', '9,300', '9,3'],
      ])('is a conflict that names both: %s', async (_, first, second) => {
        const earlier = await stageRefs([first]);

        const later = await stageRefs([second, `${first} other`]);

        const [conflict, other] = await later.lines();
        expect(conflict).toMatchObject({ state: 'conflict', reason: { code: 'reference-look-alike' } });
        expect(conflict?.reason?.message).toContain(earlier.batchId);
        expect(conflict?.reason?.message).toMatch(/looks like/);
        expect(other?.state).toBe('staged');
        expect((await later.sendable()).map(({ invoice }) => invoice.ref)).toEqual([`${first} other`]);
      });

      it('is an invoice of its own where people count so: 2.1 before 2.10, or both in one file', async () => {
        await stageRefs(['2.1']);

        const later = await stageRefs(['2.10', '2.2', '3.10', '3.1']);

        expect(await later.states()).toEqual(['staged', 'staged', 'staged', 'staged']);
      });

      it('is an invoice of its own when somebody has confirmed it, and is known from then on', async () => {
        await stageRefs(['LB 1']);

        const kept = await stageRefs(['LB\u00a01'], true);
        const same = await stageRefs(['LB\u00a01', 'LB 1']);

        expect(await kept.states()).toEqual(['staged']);
        expect((await same.lines()).map(({ state, reason }) => [state, reason])).toEqual([
          ['staged', null],
          ['staged', null],
        ]);
      });

      it('does not concern another merchant or another application', async () => {
        await stageRefs(['LC 1']);
        const other = createScenario(ledger);
        const batch = await other.begin();
        const foreign = invoiceOf({ ref: 'LC\u00a01' });
        await ledger.stageInvoices(batch, [validInvoice(other.application, foreign, 1)], NOW);
        const here = await scenario.begin();
        const merchant = { ...foreign.merchant, nif: OTHER_NIF };
        await ledger.stageInvoices(here, [validInvoice(scenario.application, { ...foreign, merchant }, 1)], NOW);

        expect(await batch.states()).toEqual(['staged']);
        expect(await here.states()).toEqual(['staged']);
      });

      it('is a conflict, too, where the tax number of the merchant lost its zeros, or got them back, before any merchant is known to the service', async () => {
        await stageOf('00123456789', 'LE 1');
        await stageOf('4567', 'LE 1');

        const conflict = { state: 'conflict', reason: { code: 'nif-look-alike' } };
        expect(await stageOf('123456789', 'LE 1')).toMatchObject([conflict]);
        expect(await stageOf('04567', 'LE 1')).toMatchObject([conflict]);
        expect(await stageOf('123456789', 'LE 2')).toMatchObject([{ state: 'staged' }]);
        expect(await stageOf('23456789', 'LE 1')).toMatchObject([{ state: 'staged' }]);
        expect(await stageOf('00123456789', 'LE 1')).toMatchObject([{ state: 'staged' }]);
        expect(await stageOf('123456789', 'LE 1', true)).toMatchObject([{ state: 'staged' }]);
      });

      it('is a conflict where tax number and reference lost their zeros together, or got them back', async () => {
        for (const ref of ['00012', '1E5', '7.10']) await stageOf('01234567890', ref);
        for (const ref of ['13', '200000']) await stageOf('2234567890', ref);

        const conflict = { state: 'conflict', reason: { code: 'nif-look-alike' } };
        for (const ref of ['12', '0012', '100000', '7.1'])
          expect(await stageOf('1234567890', ref), ref).toMatchObject([conflict]);
        for (const ref of ['00013', '2E5']) expect(await stageOf('02234567890', ref), ref).toMatchObject([conflict]);
        const [line] = await stageOf('1234567890', '12');
        expect(line?.reason?.message).toContain(
          '"12" looks like "00012", which is known under the tax number 01234567890',
        );
      });

      it('is no conflict where only some of that is so: other digits, one that is known exactly, or confirmed', async () => {
        for (const ref of ['00021', '5.1']) await stageOf('03234567890', ref);

        const staged = [{ state: 'staged' }];
        expect(await stageOf('3234567890', '210')).toMatchObject(staged);
        expect(await stageOf('3234567890', '5.10'), 'after 5.1').toMatchObject(staged);
        expect(await stageOf('3234567890', '21', true), 'confirmed').toMatchObject(staged);
        expect(await stageOf('3234567890', '21'), 'known exactly').toMatchObject(staged);
      });

      it('is found by whoever comes second, of batches that are staged at the same moment', async () => {
        const spellings = ['LD 1', 'LD\u00a01', 'LD\u20021', 'LD\u20091'];

        const batches = await Promise.all(spellings.map((ref) => stageRefs([ref])));

        const lines = await Promise.all(batches.map((batch) => batch.lines()));
        expect(lines.flat().filter(({ state }) => state === 'staged')).toHaveLength(1);
        expect(lines.flat().filter(({ state }) => state === 'conflict')).toHaveLength(3);
      });
    });

    it('stages thousands in portions, each once', async () => {
      const batch = await scenario.begin();
      const invoices: StageInvoice[] = Array.from({ length: 4_100 }, (_, index) =>
        scenario.valid(`many-${index}`, index + 1),
      );
      for (let start = 0; start < invoices.length; start += 2_000)
        await ledger.stageInvoices(batch, invoices.slice(start, start + 2_000), NOW);
      await batch.finishStaging(4_100, 2_000);

      const lines = await batch.lines();

      expect(lines.map((line) => line.ordinal)).toEqual(invoices.map((invoice) => invoice.ordinal));
      expect(await ledger.openPages(batch.batchId)).toEqual([1, 2, 3]);
      expect(await ledger.countOutcomes(batch.batchId)).toEqual([
        { outcome: 'staged', currency: 'EUR', invoices: 4_100, net: '86100', withoutAmount: 0 },
      ]);
    });

    it('changes nothing when a portion comes twice', async () => {
      const batch = await scenario.begin();
      const portion = [scenario.valid('twice'), invalidInvoice(2)];
      await ledger.stageInvoices(batch, portion, NOW);
      await ledger.stageInvoices(batch, portion, NOW);
      await batch.finishStaging(2);

      expect(await batch.states()).toEqual(['staged', 'invalid']);
    });

    it('does nothing to a batch that is past staging', async () => {
      const batch = await scenario.run(['before']);

      await ledger.stageInvoices(batch, [scenario.valid('after', 2)], NOW);

      expect((await batch.lines()).map((line) => line.ref)).toEqual(['before']);
    });

    it('keeps the same reference of another merchant and of another application apart', async () => {
      const batch = await scenario.run(['same', { ref: 'same', nif: '502757191' }]);
      const elsewhere = await createScenario(ledger).run(['same']);

      expect(await batch.sendable()).toHaveLength(2);
      expect(await elsewhere.sendable()).toHaveLength(1);
    });

    it('gives an identity to one of many batches that stage it at once; the others attach', async () => {
      const batches = await Promise.all(Array.from({ length: 6 }, () => scenario.begin()));
      const texts = Array.from({ length: 40 }, (_, index) => ({ ref: `crowd-${index}` }));

      await Promise.all(batches.map((batch, index) => batch.stage(...(index % 2 === 0 ? texts : texts.toReversed()))));

      const sendable = await Promise.all(batches.map((batch) => batch.sendable()));
      const refs = sendable.flat().map(({ invoice }) => invoice.ref);
      expect(refs.toSorted()).toEqual(texts.map((text) => text.ref).toSorted());
      for (const batch of batches) expect(new Set(await batch.states())).toEqual(new Set(['staged']));
    });
  });

  describe('the ownership rule, same content again', () => {
    beforeAll(openScenario);

    // [state of the known invoice, its batch is closed, what the second batch says, may the second batch send it]
    it.each([
      ['staged', false, 'staged', false],
      ['staged', true, 'staged', true],
      ['held', false, 'held', false],
      ['held', true, 'staged', true],
      ['sending', false, 'sending', false],
      ['sending', true, 'sending', false],
      ['accepted', false, 'accepted', false],
      ['accepted', true, 'accepted', false],
      ['unknown', true, 'unknown', false],
      ['unsettled', true, 'unsettled', false],
      ['rejected', true, 'rejected', false],
      ['failed', true, 'failed', false],
      ['issued', false, 'already-issued', false],
      ['issued', true, 'already-issued', false],
    ] as const)(
      '%s, owner closed %s: the second batch says %s, sends it: %s',
      async (state, closed, outcome, sends) => {
        const ref = `same-${state}-${closed}`;
        const first = await batchWith(ref, state);
        if (closed) await first.finish();

        const second = await scenario.run([ref]);

        const line = await second.line(ref);
        expect(line.state).toBe(outcome);
        expect(line.idempotencyKey).toBe((await first.line(ref)).idempotencyKey);
        expect((await second.sendable()).length === 1).toBe(sends);
        if (sends) expect(await first.sendable()).toEqual([]);
      },
    );

    it('lets an attached batch follow the invoice to its end', async () => {
      const first = await scenario.run(['followed']);
      const second = await scenario.run(['followed']);
      const serviceId = scenario.serviceId('followed');

      await first.send('followed', accepted(serviceId));
      expect((await second.line('followed')).state).toBe('accepted');
      const { settled } = await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);

      expect(new Set(settled.map((one) => [one.batchId, one.workflowId, one.state]))).toEqual(
        new Set([first, second].map(({ batchId }) => [batchId, `workflow-of-${batchId}`, 'issued'])),
      );
    });

    it('names the issued invoice of another batch in the batch that is attached to it, and in no other', async () => {
      const first = await scenario.run(['owned', 'owned-too']);
      const second = await scenario.run(['owned']);
      await first.send('owned', accepted(scenario.serviceId('owned')));
      expect((await second.line('owned')).issuedElsewhere).toBe(false);

      await recordDeliveries(ledger, [delivery(scenario.serviceId('owned'), 'issued')]);
      const third = await scenario.run(['owned']);

      const lines = await Promise.all([first, second, third].map((batch) => batch.line('owned')));
      expect(lines.map(({ state, issuedElsewhere = false }) => [state, issuedElsewhere].join(' '))).toEqual([
        'issued false',
        'issued true',
        'already-issued false',
      ]);
      expect((await first.line('owned-too')).issuedElsewhere).toBe(false);
    });

    it.each(['held', 'unknown'] as const)(
      'names the issued invoice in the earlier batch where a later one takes over what was %s, and its report is outdated',
      async (state) => {
        const ref = `taken-${state}`;
        const first = await batchWith(ref, state);
        await first.close();

        const second = await scenario.run([ref]);
        if (state === 'unknown') await ledger.repeatUnknown(second.batchId, 0);
        const { invoiceId, generation } = state === 'held' ? await second.freeze(ref) : await second.one(ref);
        const serviceId = scenario.serviceId(ref);
        const sent = answered(invoiceId, accepted(serviceId), { generation });
        await ledger.recordSends([sent]);
        await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);

        const lines = await Promise.all([first, second].map((batch) => batch.line(ref)));
        expect(lines.map((line) => [line.state, line.issuedElsewhere ?? false].join(' '))).toEqual([
          'issued true',
          'issued false',
        ]);
        expect(await ledger.outdatedReports(scenario.application)).toContain(first.batchId);
      },
    );

    it('takes the merchant details of the file that takes over', async () => {
      const first = await scenario.run(['details']);
      await first.hold();
      await first.finish();

      const second = await scenario.run([{ ref: 'details', legalName: 'Fixed, Lda', email: 'fixed@example.pt' }]);

      expect(await ledger.merchantsNeeded(second.batchId)).toEqual([
        { nif: NIF, legalName: 'Fixed, Lda', email: 'fixed@example.pt' },
      ]);
      expect((await second.one('details')).invoice.merchant.legalName).toBe('Fixed, Lda');
    });
  });

  describe('the ownership rule, other content', () => {
    beforeAll(openScenario);

    it.each([
      ['sending', true],
      ['accepted', true],
      ['issued', true],
      ['unknown', true],
      ['unsettled', true],
      ['staged', false],
      ['held', false],
    ] as const)('is a conflict with an invoice that is %s (batch closed: %s)', async (state, closed) => {
      const ref = `other-${state}`;
      const first = await batchWith(ref, state);
      if (closed) await first.finish();

      const second = await scenario.run([{ ref, unitPrice: '99' }]);

      expect(await second.line(ref)).toMatchObject({
        state: 'conflict',
        idempotencyKey: null,
        serviceId: null,
        reason: { code: 'known-with-other-content' },
      });
      expect(await second.sendable()).toEqual([]);
      expect((await first.line(ref)).state).toBe(state);
    });

    it('is a conflict with a failed invoice until the second document of its key has failed too', async () => {
      const first = await scenario.run(['two-documents']);
      const { invoiceId } = await first.freeze('two-documents');
      const [one, two] = [scenario.serviceId('document-1'), scenario.serviceId('document-2')];
      const fails = (serviceId: string) => scenario.ask({ invoiceId, serviceId }, 'failed', { reason: REASON });
      await scenario.answer(invoiceId, accepted(one));
      await fails(one);
      await scenario.answer(invoiceId, accepted(two));

      const early = await scenario.run([{ ref: 'two-documents', unitPrice: '99' }]);
      await fails(two);
      const late = await scenario.run([{ ref: 'two-documents', unitPrice: '99' }]);

      expect(await early.line('two-documents')).toMatchObject({
        ...{ state: 'conflict', reason: { code: 'known-with-other-content' } },
      });
      expect(await early.sendable()).toEqual([]);
      expect(await late.one('two-documents')).toMatchObject({ generation: 2, state: 'staged' });
    });

    it.each(['failed', 'rejected'] as const)(
      'takes over an invoice that is %s, as the next generation under a new key',
      async (state) => {
        const ref = `corrected-${state}`;
        const first = await batchWith(ref, state);
        const before = await first.line(ref);

        const second = await scenario.run([{ ref, unitPrice: '99' }]);

        expect(await second.one(ref)).toMatchObject({ idempotencyKey: before.idempotencyKey, generation: 2 });
        await second.send(ref, NEXT_KEY);
        const sendable = await second.one(ref);
        const fingerprint = scenario.valid({ ref, unitPrice: '99' }).fingerprint;
        const key = idempotencyKeyOf({ application: scenario.application, merchantNif: NIF, ref }, fingerprint, 2);
        expect(sendable).toMatchObject({
          generation: 2,
          idempotencyKey: key,
          state: 'staged',
          firstSentAt: null,
          attempts: 2,
        });
        expect(sendable.invoice.lines[0]?.unitPrice).toBe('99');
        expect(key).not.toBe(before.idempotencyKey);
      },
    );

    it('leaves what was rejected as it is where the refusal is no proof and nobody accepted the risk, and says what to do', async () => {
      const first = await batchWith('doubted', 'rejected');

      const second = await scenario.run([{ ref: 'doubted', unitPrice: '99', keepsRejected: true }]);

      expect(await second.line('doubted')).toMatchObject({
        state: 'conflict',
        reason: {
          code: 'needs-accept-duplicate-risk',
          message: expect.stringContaining('--accept-duplicate-risk') as string,
        },
      });
      expect(await second.sendable()).toEqual([]);
      expect(await first.line('doubted')).toMatchObject({ state: 'rejected', generation: 1 });
    });

    it.each(['staged', 'held'] as const)(
      'takes over an invoice that is %s and that its closed batch never sent, as the next generation under a new key',
      async (state) => {
        const ref = `replaced-${state}`;
        const first = await batchWith(ref, state);
        await first.finish();
        const before = await first.line(ref);

        const second = await scenario.run([{ ref, unitPrice: '99' }]);

        const sendable = await second.one(ref);
        expect(sendable).toMatchObject({ generation: 2, state: 'staged', attempts: 0 });
        expect(sendable.invoice.lines[0]?.unitPrice).toBe('99');
        expect(sendable.idempotencyKey).not.toBe(before.idempotencyKey);
        expect(await first.line(ref)).toMatchObject({
          state: 'held',
          generation: 1,
          idempotencyKey: before.idempotencyKey,
          reason: { code: state === 'held' ? REASON.code : 'corrected-before-sending' },
          flags: ['corrected-by-later-batch'],
        });
      },
    );

    it('never sends the replaced content: neither the file dropped again nor an operator brings it back', async () => {
      const first = await batchWith('replaced-for-good', 'held');
      await first.finish();
      const second = await scenario.run([{ ref: 'replaced-for-good', unitPrice: '99' }]);

      expect((await first.claim({ runId: 'run-2' })).kind).toBe('closed');
      expect(await ledger.releaseHeld(first.batchId, NOW)).toBe(0);
      expect(await first.sendable()).toEqual([]);
      expect(await second.sendable()).toHaveLength(1);
    });

    it('leaves the earlier batch its outcome: the corrected content is not its own', async () => {
      const first = await batchWith('kept', 'failed');
      const before = await first.line('kept');
      const second = await scenario.run([{ ref: 'kept', unitPrice: '99' }]);
      await second.send('kept', accepted(scenario.serviceId('kept-2')));
      const { settled } = await recordDeliveries(ledger, [delivery(scenario.serviceId('kept-2'), 'issued')]);

      expect(await first.line('kept')).toEqual({ ...before, flags: ['corrected-by-later-batch'] });
      expect(await second.line('kept')).toMatchObject({ state: 'issued', generation: 2, attempts: 2 });
      expect(settled.map((one) => one.batchId)).toEqual([second.batchId]);
    });

    it('holds the corrected one, and tells the earlier batch, when the service issues the failed one after all', async () => {
      const first = await batchWith('risen', 'failed');
      const second = await scenario.run([{ ref: 'risen', unitPrice: '99' }]);

      const { settled } = await recordDeliveries(ledger, [
        delivery(scenario.serviceId('risen'), 'issued', { receivedAt: NOW + 7 }),
      ]);

      expect(settled).toMatchObject([{ batchId: first.batchId, page: 1, ordinal: 1, state: 'issued' }]);
      expect(await first.line('risen')).toMatchObject({
        state: 'issued',
        serviceId: scenario.serviceId('risen'),
        reason: null,
        settledAt: NOW + 7,
      });
      expect(await second.line('risen')).toMatchObject({
        state: 'held',
        flags: ['issued-in-earlier-generation'],
        reason: { code: 'issued-in-earlier-generation' },
      });
      expect(await ledger.releaseHeld(second.batchId, NOW)).toBe(0);
      await second.finish();
      expect(await (await scenario.run([{ ref: 'risen', unitPrice: '99' }])).sendable()).toEqual([]);
    });

    it('never gives a service id of an earlier generation away', async () => {
      await batchWith('old-id', 'failed');
      await scenario.run([{ ref: 'old-id', unitPrice: '99' }]);
      const other = await scenario.run(['thief']);

      await other.send('thief', accepted(scenario.serviceId('old-id')));

      expect(await other.line('thief')).toMatchObject({
        state: 'unknown',
        serviceId: null,
        reason: { code: 'service-id-taken' },
      });
    });
  });

  describe('restartStaging', () => {
    beforeAll(openScenario);

    it('forgets what was staged, so that the next try starts from nothing', async () => {
      const batch = await scenario.begin();
      await ledger.stageInvoices(batch, [scenario.valid('again'), invalidInvoice(2)], NOW);

      await ledger.restartStaging(batch);
      expect(await batch.lines()).toEqual([]);
      await batch.stage({ ref: 'again', unitPrice: '77' });

      expect((await batch.one('again')).invoice.lines[0]?.unitPrice).toBe('77');
      expect((await batch.one('again')).generation).toBe(1);
    });

    describe('of an invoice that another batch waits for', () => {
      /** A batch that was stopped while it was read, has forgotten what it had staged, and another one that waits for the invoice. */
      async function stoppedWith(ref: string): Promise<{ readonly stopped: TestBatch; readonly waiting: TestBatch }> {
        const stopped = await scenario.begin();
        await stopped.read(ref);
        const waiting = await scenario.run([ref]);
        await ledger.restartStaging(stopped);
        return { stopped, waiting };
      }

      it('keeps it: the file that is read anew sends it, once, also when it is stopped again', async () => {
        const { stopped, waiting } = await stoppedWith('kept');
        await ledger.restartStaging(stopped);
        expect(await waiting.sendable()).toEqual([]);
        expect(await ledger.openPages(waiting.batchId)).toEqual([1]);
        await stopped.stage('kept');

        expect(await waiting.sendable()).toEqual([]);
        expect(await stopped.sendable()).toHaveLength(1);
        for (const batch of [stopped, waiting])
          expect(await batch.line('kept')).toMatchObject({ state: 'staged', reason: null });
      });

      it('tells the batch that waits when the file then is refused', async () => {
        const { stopped, waiting } = await stoppedWith('kept-refused');
        await stopped.refuse();

        expect(await waiting.line('kept-refused')).toMatchObject({ state: 'held', reason: { code: 'not-sent' } });
      });

      it('tells the batch that waits when the file then has it no more', async () => {
        const { stopped, waiting } = await stoppedWith('kept-gone');
        await stopped.stage('kept-other');

        expect(await waiting.line('kept-gone')).toMatchObject({ state: 'held', reason: { code: 'not-sent' } });
        expect((await stopped.sendable()).map(({ invoice }) => invoice.ref)).toEqual(['kept-other']);
      });

      it('is in conflict with it when the file then has other content', async () => {
        const { stopped, waiting } = await stoppedWith('kept-changed');
        await stopped.stage({ ref: 'kept-changed', unitPrice: '7' });

        expect(await stopped.line('kept-changed')).toMatchObject({ state: 'conflict' });
        expect(await waiting.line('kept-changed')).toMatchObject({ state: 'held', generation: 1 });
      });

      it('lets the batch that is being read send it when the file then has it no more', async () => {
        const [stopped, waiting] = [await scenario.begin(), await scenario.begin()];
        for (const batch of [stopped, waiting]) await batch.read('kept-passed');
        await ledger.restartStaging(stopped);
        await stopped.stage('kept-passed-other');
        await waiting.finishStaging(1, 1);

        expect(await waiting.sendable()).toHaveLength(1);
        expect(await waiting.line('kept-passed')).toMatchObject({ state: 'staged', reason: null });
      });

      it('forgets it when nobody waits any more', async () => {
        const [stopped, waiting] = [await scenario.begin(), await scenario.begin()];
        for (const batch of [stopped, waiting]) await batch.read('kept-alone');
        await ledger.restartStaging(stopped);
        await waiting.refuse();
        await stopped.refuse();

        const next = await scenario.run([{ ref: 'kept-alone', unitPrice: '5' }]);

        expect(await next.line('kept-alone')).toMatchObject({ state: 'staged', generation: 1 });
      });
    });

    it('touches nothing of a batch that runs', async () => {
      const batch = await scenario.run(['running']);

      await ledger.restartStaging(batch);

      expect(await batch.sendable()).toHaveLength(1);
    });

    it('is part of a refusal too', async () => {
      const batch = await scenario.begin();
      await batch.read('refused');
      await batch.refuse();

      const next = await scenario.run([{ ref: 'refused', unitPrice: '5' }]);

      expect(await next.line('refused')).toMatchObject({ state: 'staged', generation: 1 });
    });
  });
}
