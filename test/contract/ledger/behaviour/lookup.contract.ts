import { describe, expect, it } from 'vitest';
import { createScenario, invalidInvoice, NIF, NOW, REASON } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { SearchPosition } from '../../../../src/ledger/batches/search.ts';

export function lookupContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);

  /** References of other tests stand in the same ledger. */
  const own = (ref: string) => `${scenario.application}/${ref}`;

  describe('batchOfFile', () => {
    it('finds a batch by its bytes, within one application', async () => {
      const batch = await scenario.run([own('by-bytes')]);

      expect(await ledger.batchOfFile(scenario.application, batch.sha256)).toMatchObject({ batchId: batch.batchId });
      expect(await ledger.batchOfFile('another', batch.sha256)).toBeNull();
      expect(await ledger.batchOfFile(scenario.application, '0'.repeat(64))).toBeNull();
    });
  });

  /** What the indexes find. */
  const find = async (words: string) => (await ledger.searchInvoices({ words }, { results: 10, lookedAt: 0 })).found;

  describe('an exact search', () => {
    it('finds a line by its reference, with the batch it stands in, and no other', async () => {
      const batch = await scenario.run([own('a'), own('b')]);

      expect(await find(own('b'))).toMatchObject([
        { ref: own('b'), batchId: batch.batchId, file: 'invoices.csv', ordinal: 2, state: 'staged' },
      ]);
      expect(await find(own(''))).toEqual([]);
    });

    it('finds a line that never became an invoice', async () => {
      await scenario.run([invalidInvoice(1, { ref: own('bad') })]);

      expect(await find(own('bad'))).toMatchObject([{ state: 'invalid', serviceId: null }]);
    });

    it('finds an invoice by its service id in every batch that holds it, the newest first, also by an id of an earlier generation', async () => {
      const first = await scenario.run([own('c')]);
      const { serviceId } = await first.fail(own('c'));
      await first.finish();
      const second = await scenario.run([{ ref: own('c'), unitPrice: '11' }]);

      const found = await find(serviceId);

      expect(found.map(({ batchId, state }) => [batchId, state])).toEqual([
        [second.batchId, 'staged'],
        [first.batchId, 'failed'],
      ]);
    });

    it.each(["' OR 1=1 --", '%', '_', '', '\u0000', '{a,b}'])('takes %j for a text like any other', async (words) => {
      expect(await find(words)).toEqual([]);
    });
  });

  describe('searchInvoices', () => {
    const FAR = { results: 10, lookedAt: 1_000_000 };

    /** The references of each answer, until none is left. */
    async function allOf(words: string, results: number): Promise<readonly (readonly string[])[]> {
      const answers: string[][] = [];
      let after: SearchPosition | undefined;
      do {
        const bounds = { ...FAR, results, ...(after === undefined ? {} : { after }) };
        const { found, next } = await ledger.searchInvoices({ words }, bounds);
        answers.push(found.map(({ ref }) => ref));
        after = next ?? undefined;
      } while (after !== undefined);
      return answers;
    }

    /** A word that no other test has: the search looks at everything that stands in the ledger. */
    const word = () => `w${Math.random().toString(36).slice(2, 12)}`;

    it('answers an exact reference by an index, and looks at no invoice for it', async () => {
      const batch = await scenario.run([own('s1'), own('s2')]);

      const result = await ledger.searchInvoices({ words: own('s2') }, { ...FAR, lookedAt: 0 });

      expect(result).toMatchObject({ lookedAt: 0, next: null, found: [{ batchId: batch.batchId, ordinal: 2 }] });
      expect(result.found[0]?.application).toBe(scenario.application);
      expect(result.found[0]?.readAt).toBe((await batch.record()).startedAt);
    });

    it('hands out the invoices of a merchant who has more than fit, the newest batch first, until none is left', async () => {
      const nif = `7${Date.now()}`;
      await scenario.run([1, 2, 3].map((n) => ({ ref: own(`old${n}`), nif })));
      await scenario.run([1, 2].map((n) => ({ ref: own(`new${n}`), nif })));

      const answers = await allOf(nif, 2);

      expect(answers.slice(0, 3)).toEqual([[own('new1'), own('new2')], [own('old1'), own('old2')], [own('old3')]]);
      expect(await ledger.searchInvoices({ words: nif }, { ...FAR, results: 5 })).toMatchObject({
        ...{ lookedAt: 0, next: null },
        found: ['new1', 'new2', 'old1', 'old2', 'old3'].map((ref) => ({ ref: own(ref) })),
      });
    });

    it.each([
      ['a part of a reference', (own1: string) => own1],
      ['a name without its accents and capitals', (own1: string) => `cafe nandu ${own1}`],
      ['a name with other accents and capitals', (own1: string) => `CÂFÉ  ÑANDÚ ${own1}`],
      ['quotes, brackets and backslashes of a name', (own1: string) => `${own1} "sol" (1) \\ [.+]`],
    ])('finds %s', async (_, asked) => {
      const own1 = word();
      const [legalName, ref] = [`Café Ñandú ${own1} "Sol" (1) \\ [.+] Lda.`, `FT ${own1.toUpperCase()}/7`];
      const batch = await scenario.run([own('other'), { ref, legalName }]);

      const { found } = await ledger.searchInvoices({ words: asked(own1) }, FAR);

      expect(found.map(({ batchId, ordinal }) => [batchId, ordinal])).toEqual([[batch.batchId, 2]]);
    });

    it.each(['.*', '%', '', '\u0000', '\u0301', '("', 'IVA_23', 'legalName'])(
      'takes %j for words and neither for a pattern nor for the form in which content is kept',
      async (words) => {
        await scenario.run([own('plain')]);

        expect((await ledger.searchInvoices({ words }, FAR)).found).toEqual([]);
      },
    );

    it('holds an amount, a merchant and the time of reading together', async () => {
      const nif = `8${Date.now()}`;
      const batch = await scenario.run([
        { ref: own('n1'), nif, unitPrice: '617.25' },
        { ref: own('n2'), nif },
        { ref: own('n3'), unitPrice: '617.25' },
      ]);
      const { startedAt } = await batch.record();
      const search = { words: nif, net: '1234.5', from: startedAt, before: startedAt + 1 };

      expect((await ledger.searchInvoices(search, FAR)).found.map(({ ref }) => ref)).toEqual([own('n1')]);
      expect((await ledger.searchInvoices({ ...search, net: '1234' }, FAR)).found).toEqual([]);
      expect((await ledger.searchInvoices({ ...search, from: startedAt + 1 }, FAR)).found).toEqual([]);
      expect((await ledger.searchInvoices({ ...search, before: startedAt }, FAR)).found).toEqual([]);
    });

    it('stops at its bounds, says how far it went, and goes on from there without a gap or a repeat', async () => {
      const mine = word();
      await scenario.run([1, 2, 3, 4].map((n) => `${mine}-a${n}`));
      await scenario.run([1, 2, 3].map((n) => `${mine}-b${n}`));

      const answers = await allOf(mine, 2);

      expect(Math.max(...answers.map(({ length }) => length))).toBeLessThanOrEqual(2);
      expect(answers.flat()).toEqual(['b1', 'b2', 'b3', 'a1', 'a2', 'a3', 'a4'].map((end) => `${mine}-${end}`));
      const near = await ledger.searchInvoices({ words: `${mine}-a` }, { results: 10, lookedAt: 3 });
      expect(near).toMatchObject({ found: [], lookedAt: 3, next: { ordinal: 0 } });
    });
  });

  describe('invoiceDetails', () => {
    it('tells what the file said, what was sent under which key, and which news came', async () => {
      const batch = await scenario.run([own('d')]);
      const serviceId = scenario.serviceId('d');
      const { idempotencyKey } = await batch.one(own('d'));
      await batch.accept(own('d'), { serviceId, attempts: 2 });
      await scenario.hear(serviceId, 'failed', { receivedAt: NOW + 1, reason: REASON });
      await scenario.hear(serviceId, 'issued', { receivedAt: NOW + 2 });
      await scenario.hear(scenario.serviceId('somebody-else'), 'issued');

      const details = await ledger.invoiceDetails(batch.batchId, 1);

      expect(details).toMatchObject({
        line: { ref: own('d'), state: 'issued', rows: [2] },
        content: { ref: own('d'), merchant: { nif: NIF }, lines: [{ quantity: '2', unitPrice: '10.5' }] },
        generations: [
          {
            ...{ generation: 1, idempotencyKey, state: 'issued', serviceId, attempts: 2 },
            ...{ firstSentAt: NOW, acceptedAt: NOW, settledAt: NOW + 2, body: `{"ref":"${own('d')}"}` },
          },
        ],
        batches: [{ batchId: batch.batchId, ordinal: 1 }],
      });
      expect(details?.deliveries.map(({ verdict, receivedAt, reason }) => [verdict, receivedAt, reason])).toEqual([
        ['failed', NOW + 1, REASON],
        ['issued', NOW + 2, null],
      ]);
    });

    it('keeps an earlier generation apart from the one that took over', async () => {
      const first = await scenario.run([own('e')]);
      await first.reject(own('e'));
      await first.finish();
      const second = await scenario.run([{ ref: own('e'), unitPrice: '12' }]);

      const then = await ledger.invoiceDetails(first.batchId, 1);
      const now = await ledger.invoiceDetails(second.batchId, 1);

      expect(then?.line).toMatchObject({ state: 'rejected', generation: 1 });
      expect(then?.content?.lines[0]?.unitPrice).toBe('10.5');
      expect(now?.content?.lines[0]?.unitPrice).toBe('12');
      expect(now?.generations.map(({ generation, state, reason }) => [generation, state, reason?.code])).toEqual([
        [2, 'staged', undefined],
        [1, 'rejected', REASON.code],
      ]);
      expect(now?.generations[0]?.body, 'until the earlier key has been asked once more').toBe(
        now?.generations[1]?.body,
      );
      expect(now?.batches.map(({ batchId }) => batchId)).toEqual([first.batchId, second.batchId]);
    });

    it('has what was done by hand to it or to its batches', async () => {
      const batch = await scenario.run([own('t'), own('u')]);
      await batch.lose(own('t'));
      await batch.send(own('u'), { kind: 'held', reason: REASON });
      await batch.finish();
      const actionId = `pause-${batch.batchId}`;
      await ledger.noteActions(batch.batchId, [{ actionId, at: NOW + 5, who: 'ana', what: 'pause', why: 'lunch' }]);
      const action = { actionId: `retry-${batch.batchId}`, who: null, why: 'go on' };
      await batch.retry({ selection: { rows: [3] }, policy: { now: NOW + 6 }, action });

      const downloads = Array.from({ length: 201 }, (_, n) => ({
        ...{ actionId: `download-${n}-${batch.batchId}`, at: NOW + 4, who: 'ana' },
        ...{ what: 'download', why: 'report.csv' },
      }));
      await ledger.noteActions(batch.batchId, downloads);

      const details = await ledger.invoiceDetails(batch.batchId, 1);

      expect(details?.actions.map(({ what, who, move }) => [what, who, move])).toEqual([['pause', 'ana', null]]);
      expect((await ledger.invoiceDetails(batch.batchId, 2))?.actions).toMatchObject([
        { what: 'pause', why: 'lunch', at: NOW + 5 },
        { what: 'retry', why: 'go on', at: NOW + 6, who: null, move: 'release', acceptedDuplicateRisk: false },
      ]);
      expect(details?.batches).toEqual([
        { batchId: batch.batchId, file: 'invoices.csv', ordinal: 1, readAt: NOW, rows: [2] },
      ]);
      expect(details?.generations[0]).toMatchObject({ asks: 0, frozenAt: NOW });
    });

    it('has the findings of a line that never became an invoice, and nothing else', async () => {
      const batch = await scenario.run([invalidInvoice(1, { ref: own('f') })]);

      const details = await ledger.invoiceDetails(batch.batchId, 1);

      expect(details).toMatchObject({ content: null, generations: [], deliveries: [], batches: [] });
      expect(details?.line.findings).toHaveLength(2);
    });

    it('is null for a line that is not there', async () => {
      const batch = await scenario.run([own('g')]);

      expect(await ledger.invoiceDetails(batch.batchId, 2)).toBeNull();
      expect(await ledger.invoiceDetails('nowhere', 1)).toBeNull();
    });
  });
}
