import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { idempotencyKeyOf } from '../../../../src/domain/fingerprint.ts';
import {
  answered,
  accepted,
  createScenario,
  invalidInvoice,
  type InvoiceText,
  NEXT_KEY,
  NIF,
  NOW,
  OTHER_NIF,
  REASON,
  type TestBatch,
} from '../scenario.ts';
import type { BatchInvoice } from '../../../../src/domain/records/batch-record.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

type Ending = 'staged' | 'sending' | 'held' | 'accepted' | 'issued' | 'failed' | 'rejected' | 'unknown' | 'unsettled';

export function stagingContract(ledger: Ledger): void {
  describe('stageInvoices', () => {
    const scenario = createScenario(ledger);

    it('stages new identities, exactly as they were read', async () => {
      const line = { description: 'x', taxCode: 'IVA_23', unitPrice: '1' };
      const one = scenario.valid({ ref: 'exact', legalName: 'A & B', email: 'a@b.pt' });
      const invoice = {
        ...one.invoice,
        lines: [{ ...line, quantity: '123456789012345678901234567890.000000000000000001' }],
      };
      const finding = { row: 2, column: null, code: 'merchant-details-differ', message: 'Warned' };
      const findings = [{ ...finding, severity: 'warning' as const }];
      const batch = await scenario.run([{ ...one, invoice, net: '7.5', rows: [2, 9], findings }]);

      expect((await batch.sendable())[0]).toMatchObject({
        ...{ state: 'staged', generation: 1, body: null, invoice, mayExist: false, attempts: 0 },
      });
      expect(await batch.lines()).toEqual([
        {
          ...{ ordinal: 1, page: 1, ref: 'exact', merchantNif: NIF, rows: [2, 9], currency: 'EUR', net: '7.5' },
          ...{ state: 'staged', serviceId: null, idempotencyKey: one.idempotencyKey, generation: 1, attempts: 0 },
          ...{ reason: null, findings, contradictions: [], issuedElsewhere: false, flags: [] },
          ...{ sentAt: null, settledAt: null },
        },
      ]);
    });

    it('keeps invalid invoices with the batch only, with the worst finding as their reason', async () => {
      const batch = await scenario.run([invalidInvoice(1), invalidInvoice(2, { net: '12.5' })]);

      expect(await batch.sendable()).toEqual([]);
      const [first] = await batch.lines();
      const reason = { code: 'quantity-unreadable', message: 'Not a number' };
      expect(first).toMatchObject({ state: 'invalid', generation: 0, idempotencyKey: null, reason });
      expect(first?.findings).toHaveLength(2);
    });

    it('keeps an invalid invoice beside the others whose reference fits into no index', async () => {
      // Of 8,000 characters that do not compress.
      const ref = createHash('shake256', { outputLength: 6_000 }).update('reference').digest('base64');
      const batch = await scenario.run([invalidInvoice(1, { ref }), 'beside', '€'.repeat(200)]);

      expect((await batch.lines()).map((line) => [line.state, line.ref])).toEqual([
        ['invalid', `${ref.slice(0, 199)}…`],
        ['staged', 'beside'],
        ['staged', '€'.repeat(200)],
      ]);
    });

    it('stages thousands in portions, each once', async () => {
      const batch = await scenario.begin();
      const invoices = Array.from({ length: 4_100 }, (_, index) => scenario.valid(`many-${index}`, index + 1));
      for (let start = 0; start < invoices.length; start += 2_000)
        await ledger.stageInvoices(batch, invoices.slice(start, start + 2_000), NOW);
      await batch.finishStaging(4_100, 2_000);

      expect((await batch.lines()).map(({ ordinal }) => ordinal)).toEqual(invoices.map(({ ordinal }) => ordinal));
      expect(await ledger.openPages(batch.batchId)).toEqual([1, 2, 3]);
      expect(await ledger.countOutcomes(batch.batchId)).toEqual([
        { outcome: 'staged', currency: 'EUR', invoices: 4_100, net: '86100', withoutAmount: 0 },
      ]);
    });

    it('changes nothing when a portion comes twice, or after the end of the staging', async () => {
      const batch = await scenario.begin();
      await batch.read('twice', invalidInvoice(2));
      await batch.stage('twice', invalidInvoice(2));

      await batch.read(scenario.valid('after', 3));

      expect((await batch.lines()).map(({ ref, state }) => [ref, state])).toEqual([
        ['twice', 'staged'],
        ['bad-2', 'invalid'],
      ]);
    });

    it('keeps the same reference of another merchant and of another application apart', async () => {
      const batch = await scenario.run(['same', { ref: 'same', nif: OTHER_NIF }]);
      const elsewhere = await createScenario(ledger).run(['same']);

      expect(await batch.sendable()).toHaveLength(2);
      expect(await elsewhere.sendable()).toHaveLength(1);
    });

    it('gives an identity to one of many batches that stage it at once; the others attach', async () => {
      const batches = await Promise.all(Array.from({ length: 6 }, () => scenario.begin()));
      const refs = Array.from({ length: 40 }, (_, index) => `crowd-${index}`);

      await Promise.all(batches.map((batch, index) => batch.stage(...(index % 2 === 0 ? refs : refs.toReversed()))));

      const sendable = await Promise.all(batches.map((batch) => batch.sendable()));
      expect(sendable.flatMap((all) => all.map(({ invoice }) => invoice.ref)).toSorted()).toEqual(refs.toSorted());
      for (const batch of batches) expect(new Set(await batch.states())).toEqual(new Set(['staged']));
    });
  });

  describe('a reference that looks like one of an earlier batch and is not the same', () => {
    const scenario = createScenario(ledger);

    /** Stages them in one file. */
    async function linesOf(texts: readonly (InvoiceText | string)[], kept = false): Promise<readonly BatchInvoice[]> {
      const staged = texts.map((text, at) => scenario.valid(text, at + 1));
      return (await scenario.run(kept ? staged.map((one) => ({ ...one, lookAlikesKept: true })) : staged)).lines();
    }

    /** The state of one invoice that is staged in a file of its own, and the code of its reason. */
    async function stageOf(nif: string, ref: string, kept = false): Promise<string> {
      const [line] = await linesOf([{ nif, ref }], kept);
      return `${line?.state} ${line?.reason?.code ?? ''}`.trim();
    }

    it.each([
      ['a no-break space after a space', 'LA 1', 'LA\u00a01'],
      ['a letter in two parts', 'L\u00c3 3', 'LA\u0303 3'],
      ['a number that lost its zeros in a spreadsheet', '0007', '7'],
      ['a number that got zeros', '8', '08'],
      ['a number that lost a zero behind its mark', '9.10', '9.1'],
      ['a number that lost two', '9,300', '9,3'],
    ])('is a conflict that names both: %s', async (_, first, second) => {
      const { batchId } = await scenario.run([first]);

      const later = await scenario.run([second, `${first} other`]);

      const [conflict, other] = await later.lines();
      expect(conflict).toMatchObject({ state: 'conflict', reason: { code: 'reference-look-alike' } });
      expect(conflict?.reason?.message).toContain(batchId);
      expect(conflict?.reason?.message).toMatch(/looks like/);
      expect(other?.state).toBe('staged');
      expect((await later.sendable()).map(({ invoice }) => invoice.ref)).toEqual([`${first} other`]);
    });

    it('is an invoice of its own where people count so, where it is confirmed, and with another merchant or application', async () => {
      const staged = async (batch: Promise<TestBatch>) =>
        expect(new Set(await (await batch).states())).toEqual(new Set(['staged']));
      await scenario.run(['2.1', 'LB 1', 'LC 1']);

      await staged(scenario.run(['2.10', '2.2', '3.10', '3.1']));
      await staged(scenario.run([{ ref: 'LC\u00a01', nif: OTHER_NIF }]));
      await staged(createScenario(ledger).run(['LC\u00a01']));
      expect(await linesOf(['LB\u00a01'], true)).toMatchObject([{ state: 'staged' }]);
      expect(await linesOf(['LB\u00a01', 'LB 1']), 'it is known from then on').toMatchObject([
        { state: 'staged', reason: null },
        { state: 'staged', reason: null },
      ]);
    });

    // [tax number, reference, confirmed, what becomes of it]
    it.each<[string, readonly (readonly [string, string])[], readonly (readonly [string, string, boolean, string])[]]>([
      [
        'where the tax number of the merchant lost its zeros, or got them back, before any merchant is known to the service',
        [
          ['00123456789', 'LE 1'],
          ['4567', 'LE 1'],
        ],
        [
          ['123456789', 'LE 1', false, 'conflict nif-look-alike'],
          ['04567', 'LE 1', false, 'conflict nif-look-alike'],
          ['123456789', 'LE 2', false, 'staged'],
          ['23456789', 'LE 1', false, 'staged'],
          ['00123456789', 'LE 1', false, 'staged'],
          ['123456789', 'LE 1', true, 'staged'],
        ],
      ],
      [
        'where tax number and reference lost their zeros together, or got them back',
        [
          ...['00012', '1E5', '7.10'].map((ref) => ['01234567890', ref] as const),
          ...['13', '200000'].map((ref) => ['2234567890', ref] as const),
        ],
        [
          ...['12', '0012', '100000', '7.1'].map(
            (ref) => ['1234567890', ref, false, 'conflict nif-look-alike'] as const,
          ),
          ...['00013', '2E5'].map((ref) => ['02234567890', ref, false, 'conflict nif-look-alike'] as const),
        ],
      ],
      [
        'but not where only some of that is so: other digits, confirmed, or known exactly then',
        [
          ['03234567890', '00021'],
          ['03234567890', '5.1'],
        ],
        [
          ['3234567890', '210', false, 'staged'],
          ['3234567890', '5.10', false, 'staged'],
          ['3234567890', '21', true, 'staged'],
          ['3234567890', '21', false, 'staged'],
        ],
      ],
    ])('is a conflict %s', async (_, known, brought) => {
      for (const [nif, ref] of known) await stageOf(nif, ref);

      for (const [nif, ref, kept, outcome] of brought)
        expect(await stageOf(nif, ref, kept), `${nif} ${ref}`).toBe(outcome);
    });

    it('of a merchant whose tax number differs, too, is named with that number', async () => {
      await stageOf('05234567890', '00012');

      const [line] = await linesOf([{ nif: '5234567890', ref: '12' }]);

      expect(line?.reason?.message).toMatch(/"12" looks like "00012".*known under the tax number 05234567890/);
    });

    it('is found by whoever comes second, of batches that are staged at the same moment', async () => {
      const spellings = ['LD 1', 'LD\u00a01', 'LD\u20021', 'LD\u20091'];

      const lines = await Promise.all(spellings.map((ref) => linesOf([ref])));

      const states = lines.flat().map(({ state }) => state);
      expect(states.toSorted()).toEqual(['conflict', 'conflict', 'conflict', 'staged']);
    });
  });

  describe('the ownership rule', () => {
    const scenario = createScenario(ledger);

    /** A batch whose one invoice has come to this state. */
    async function batchWith(ref: string, state: Ending): Promise<TestBatch> {
      const batch = await scenario.run([ref]);
      const over = { serviceId: scenario.serviceId(ref) };
      if (state === 'sending') await batch.freeze(ref);
      if (state === 'held') await batch.hold();
      if (state === 'rejected') await batch.reject(ref);
      if (state === 'unknown') await batch.lose(ref);
      if (state === 'accepted' || state === 'unsettled') await batch.accept(ref, over);
      if (state === 'issued') await batch.issue(ref, over);
      if (state === 'failed') await batch.fail(ref, over);
      if (state === 'unsettled') await batch.closePage();
      expect((await batch.line(ref)).state).toBe(state);
      return batch;
    }

    describe('for the same content', () => {
      // [state of the known invoice, its batch is closed, what the second batch says, may the second batch send it]
      it.each([
        ['staged', null, 'staged', false],
        ['staged', 'finished', 'staged', true],
        ['held', null, 'held', false],
        ['held', 'finished', 'staged', true],
        ['held', 'cancelled', 'staged', true],
        ['sending', null, 'sending', false],
        ['sending', 'finished', 'sending', false],
        ['accepted', null, 'accepted', false],
        ['accepted', 'finished', 'accepted', false],
        ['unknown', 'finished', 'unknown', false],
        ['unsettled', 'finished', 'unsettled', false],
        ['rejected', 'finished', 'rejected', false],
        ['failed', 'finished', 'failed', false],
        ['issued', null, 'already-issued', false],
        ['issued', 'finished', 'already-issued', false],
      ] as const)('%s, owner %s: the second batch says %s, sends it: %s', async (state, closed, outcome, sends) => {
        const ref = `same-${state}-${closed}`;
        const first = await batchWith(ref, state);
        if (closed !== null) await first.setState(closed);

        const second = await scenario.run([ref]);

        const line = await second.line(ref);
        expect(line.state).toBe(outcome);
        expect(line.idempotencyKey).toBe((await first.line(ref)).idempotencyKey);
        expect((await second.sendable()).length === 1).toBe(sends);
        if (sends) expect(await first.sendable()).toEqual([]);
      });

      it('lets an attached batch follow the invoice to its end, and names it in it as issued elsewhere', async () => {
        const first = await scenario.run(['followed', 'followed-too']);
        const second = await scenario.run(['followed']);

        const { serviceId } = await first.accept('followed');
        expect(await second.line('followed')).toMatchObject({ state: 'accepted', issuedElsewhere: false });
        const { settled } = await scenario.hear(serviceId, 'issued');
        const third = await scenario.run(['followed']);

        expect(new Set(settled.map((one) => one.batchId))).toEqual(new Set([first.batchId, second.batchId]));
        const lines = await Promise.all([first, second, third].map((batch) => batch.line('followed')));
        expect(lines.map(({ state, issuedElsewhere = false }) => [state, issuedElsewhere].join(' '))).toEqual([
          ...['issued false', 'issued true', 'already-issued false'],
        ]);
        expect((await first.line('followed-too')).issuedElsewhere).toBe(false);
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
          await ledger.recordSends([answered(invoiceId, accepted(serviceId), { generation })]);
          await scenario.hear(serviceId, 'issued');

          expect(await first.line(ref)).toMatchObject({ state: 'issued', issuedElsewhere: true });
          expect(await second.line(ref)).toMatchObject({ state: 'issued', issuedElsewhere: false });
          expect(await scenario.outdated()).toContain(first.batchId);
        },
      );

      it('takes the merchant details of the file that takes over, and needs none for what another batch sends', async () => {
        const nif = `6${Date.now()}`;
        const first = await scenario.run([{ ref: 'details', nif }]);
        const attached = await scenario.run([{ ref: 'details', nif }]);
        expect(await ledger.merchantsNeeded(attached.batchId)).toEqual([]);
        await first.hold();
        await first.finish();

        const details = { nif, legalName: 'Fixed, Lda', email: 'fixed@example.pt' };
        const second = await scenario.run([{ ref: 'details', ...details }]);

        expect(await ledger.merchantsNeeded(second.batchId)).toEqual([details]);
        expect((await second.one('details')).invoice.merchant.legalName).toBe('Fixed, Lda');
      });
    });

    describe('for other content', () => {
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

        const reason = { code: 'known-with-other-content' };
        expect(await second.line(ref)).toMatchObject({
          state: 'conflict',
          idempotencyKey: null,
          serviceId: null,
          reason,
        });
        expect(await second.sendable()).toEqual([]);
        expect((await first.line(ref)).state).toBe(state);
      });

      it('is a conflict with a failed invoice until the second document of its key has failed too', async () => {
        const first = await scenario.run(['two-documents']);
        const [one, two] = [scenario.serviceId('document-1'), scenario.serviceId('document-2')];
        const { invoiceId } = await first.fail('two-documents', { serviceId: one });
        await scenario.answer(invoiceId, accepted(two));

        const early = await scenario.run([{ ref: 'two-documents', unitPrice: '99' }]);
        await scenario.ask({ invoiceId, serviceId: two }, 'failed', { reason: REASON });
        const late = await scenario.run([{ ref: 'two-documents', unitPrice: '99' }]);

        expect(await early.outcomes()).toEqual(['conflict known-with-other-content']);
        expect(await early.sendable()).toEqual([]);
        expect(await late.one('two-documents')).toMatchObject({ generation: 2, state: 'staged' });
      });

      it.each(['failed', 'rejected'] as const)(
        'takes over an invoice that is %s, as the next generation under a new key',
        async (state) => {
          const ref = `corrected-${state}`;
          const { idempotencyKey } = await (await batchWith(ref, state)).line(ref);

          const second = await scenario.run([{ ref, unitPrice: '99' }]);

          expect(await second.one(ref)).toMatchObject({ idempotencyKey, generation: 2 });
          await second.send(ref, NEXT_KEY);
          const sendable = await second.one(ref);
          const { fingerprint } = scenario.valid({ ref, unitPrice: '99' });
          const key = idempotencyKeyOf({ application: scenario.application, merchantNif: NIF, ref }, fingerprint, 2);
          const life = { generation: 2, idempotencyKey: key, state: 'staged', firstSentAt: null, attempts: 2 };
          expect(sendable).toMatchObject(life);
          expect(sendable.invoice.lines[0]?.unitPrice).toBe('99');
          expect(key).not.toBe(idempotencyKey);
        },
      );

      it('leaves what was rejected as it is where the refusal is no proof and nobody accepted the risk, and says what to do', async () => {
        const first = await batchWith('doubted', 'rejected');

        const second = await scenario.run([{ ref: 'doubted', unitPrice: '99', keepsRejected: true }]);

        const [{ state, reason } = { state: null, reason: null }] = await second.lines();
        expect([state, reason?.code]).toEqual(['conflict', 'needs-accept-duplicate-risk']);
        expect(reason?.message).toContain('--accept-duplicate-risk');
        expect(await second.sendable()).toEqual([]);
        expect(await first.line('doubted')).toMatchObject({ state: 'rejected', generation: 1 });
      });

      it.each(['staged', 'held'] as const)(
        'takes over an invoice that is %s and that its closed batch never sent, under a new key, and for good',
        async (state) => {
          const ref = `replaced-${state}`;
          const first = await batchWith(ref, state);
          await first.finish();
          const { idempotencyKey } = await first.line(ref);

          const second = await scenario.run([{ ref, unitPrice: '99' }]);

          const sendable = await second.one(ref);
          expect(sendable).toMatchObject({ generation: 2, state: 'staged', attempts: 0 });
          expect(sendable.invoice.lines[0]?.unitPrice).toBe('99');
          expect(sendable.idempotencyKey).not.toBe(idempotencyKey);
          const reason = { code: state === 'held' ? REASON.code : 'corrected-before-sending' };
          const flags = ['corrected-by-later-batch'];
          expect(await first.line(ref)).toMatchObject({ state: 'held', generation: 1, idempotencyKey, reason, flags });
          expect((await first.claim({ runId: 'run-2' })).kind).toBe('closed');
          expect(await ledger.releaseHeld(first.batchId, NOW)).toBe(0);
          expect(await first.sendable()).toEqual([]);
          expect(await second.sendable()).toHaveLength(1);
        },
      );

      it('leaves the earlier batch its outcome: the corrected content is not its own', async () => {
        const first = await batchWith('kept', 'failed');
        const before = await first.line('kept');
        const second = await scenario.run([{ ref: 'kept', unitPrice: '99' }]);
        const { serviceId } = await second.accept('kept');
        const { settled } = await scenario.hear(serviceId, 'issued');

        expect(await first.line('kept')).toEqual({ ...before, flags: ['corrected-by-later-batch'] });
        expect(await second.line('kept')).toMatchObject({ state: 'issued', generation: 2, attempts: 2 });
        expect(settled.map((one) => one.batchId)).toEqual([second.batchId]);
      });

      it('holds the corrected one when the service issues the failed one after all', async () => {
        const first = await batchWith('risen', 'failed');
        const second = await scenario.run([{ ref: 'risen', unitPrice: '99' }]);
        const serviceId = scenario.serviceId('risen');

        await scenario.hear(serviceId, 'issued', { receivedAt: NOW + 7 });

        const issued = { state: 'issued', serviceId, reason: null, settledAt: NOW + 7 };
        expect(await first.line('risen')).toMatchObject(issued);
        expect(await second.outcomes()).toEqual(['held issued-in-earlier-generation']);
        expect((await second.line('risen')).flags).toEqual(['issued-in-earlier-generation']);
        expect(await ledger.releaseHeld(second.batchId, NOW)).toBe(0);
        await second.finish();
        expect(await (await scenario.run([{ ref: 'risen', unitPrice: '99' }])).sendable()).toEqual([]);
      });

      it('never gives a service id of an earlier generation away', async () => {
        await batchWith('old-id', 'failed');
        await scenario.run([{ ref: 'old-id', unitPrice: '99' }]);
        const other = await scenario.run(['thief']);

        await other.accept('thief', { serviceId: scenario.serviceId('old-id') });

        expect(await other.outcomes()).toEqual(['unknown service-id-taken']);
        expect((await other.line('thief')).serviceId).toBeNull();
      });
    });
  });
}
