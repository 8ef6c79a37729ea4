import { describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/sandbox/engine.ts';
import { CALIBRATION_INVOICES, stopCalibration } from '../../../src/domain/calibration-state.ts';
import { readProfile, profileDigestOf } from '../../../src/app/account/read-profile.ts';
import { expectAgreement, withStack, type TestStack } from '../../support/lote/stack.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import { until } from '../../support/until.ts';

const invoicesSent = (stack: TestStack): number => new Set(stack.posts().map(({ key }) => key)).size;
const digestOf = ({ config }: TestStack): string => profileDigestOf(config, readProfile(config));

describe('the calibration of a service profile', { concurrent: true }, () => {
  it('lets 20 invoices of all batches together out until one is issued, and then all of them', async () => {
    let issue = (): void => undefined;
    const issued = new Promise<void>((resolve) => (issue = resolve));
    const engine: Engine = {
      async process() {
        await issued;
        return { delayMs: 0, outcome: { status: 'issued' } };
      },
    };
    await withStack({ isProved: false, sandbox: { engine } }, async (stack) => {
      const [one, other] = [testInvoices(60), testInvoices(70).map((line) => ({ ...line, ref: `O${line.ref}` }))];
      await stack.drop('one.csv', one);
      await stack.drop('other.csv', other);
      const batches = [await stack.start({ file: 'one.csv' }), await stack.start({ file: 'other.csv' })];
      for (const { handle } of batches)
        await until(async () => (await stack.progress(handle)).waitingFor === 'first-invoices');

      expect(invoicesSent(stack)).toBe(CALIBRATION_INVOICES);
      issue();
      const results = await Promise.all(batches.map(({ handle }) => handle.result()));

      expect(results.map(({ counts }) => counts.issued)).toEqual([60, 70]);
      await expectAgreement(stack, ...batches.map(({ batchId }) => batchId));
    });
  });

  it.each([
    ['without an address for events', { webhooks: 'none' }],
    ['when no event ever comes', { sandbox: { faults: { webhookDropped: 1 } } }],
  ] as const)('goes by GET alone %s', async (_, options) => {
    await withStack({ ...options, isProved: false, env: { LOTE_SETTLE_TIMEOUT: '20s' } }, async (stack) => {
      expect((await stack.run('few.csv', testInvoices(3))).counts).toMatchObject({ issued: 3 });
      const many = testInvoices(60).map((line) => ({ ...line, ref: `M${line.ref}` }));

      expect((await stack.run('many.csv', many)).counts).toMatchObject({ issued: 60 });
      expect((await stack.ledger.calibration(digestOf(stack))).opened).not.toBeNull();
    });
  });

  it('of a profile that was found wrong outlives a start, and ends with the word of an operator', async () => {
    await withStack({ isProved: false }, async (stack) => {
      const reason = { code: 'profile-contradiction', message: 'Words are swapped.' };
      await stack.ledger.calibrate(digestOf(stack), (draft) => stopCalibration(draft, reason, Date.now()));
      await stack.deploy();
      const { handle } = await stack.begin('right.csv', testInvoices(3));
      await until(async () => (await stack.progress(handle)).waitingFor === 'profile-contradiction');
      expect(stack.posts()).toEqual([]);

      await stack.ledger.calibrate(digestOf(stack), (draft) => void (draft.trusted = true));

      expect((await handle.result()).counts).toMatchObject({ issued: 3 });
    });
  });

  it('sends no invoice at all while the list of merchants is no success by the profile', async () => {
    const profile = { answers: { success: { at: '/ok', is: ['true'] } } };
    await withStack({ profile, isProved: false }, async (stack) => {
      const { handle } = await stack.begin('wrong.csv', testInvoices(10));
      await until(async () => (await stack.progress(handle)).waitingFor === 'service-list-unreadable');

      expect(stack.posts()).toEqual([]);
      await handle.terminate();
    });
  });
});
