import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectAgreement } from '../support/crash/agreement.ts';
import { testInvoices } from '../support/files/batch-file.ts';
import type { FrontAction } from '../support/servers/service-front.ts';
import { withStack, type TestStack } from '../support/lote/stack.ts';
import { until } from '../support/until.ts';

const SECRET = 'whsec_of_the_test';

async function deliver(stack: TestStack, body: string, secret = SECRET): Promise<number> {
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const answer = await fetch(stack.webhookUrl, { method: 'POST', headers: { 'X-Service-Signature': signature }, body });
  return answer.status;
}

describe('webhooks that nobody can use', { concurrent: true }, () => {
  it('are stored, answered 2xx, and stand as alerts in the report of the batch', async () => {
    await withStack({ env: { WEBHOOK_SECRET: SECRET } }, async (stack) => {
      const answers: number[] = [];
      stack.front.script = async ({ method, path }): Promise<FrontAction> => {
        if (method !== 'POST' || path !== '/v1/invoices' || answers.length > 0) return 'pass';
        answers.push(0);
        answers.push(await deliver(stack, 'neither JSON nor an event'));
        answers.push(await deliver(stack, '{"id":"evt_1","type":"invoice.issued","data":{"id":"inv_of_a_stranger"}}'));
        answers.push(await deliver(stack, '{"id":"evt_2","type":"merchant.renamed","data":{}}'));
        return 'pass';
      };

      const result = await stack.run('strange.csv', testInvoices(4));

      expect(answers.slice(1)).toEqual([204, 204, 204]);
      expect(result.counts).toMatchObject({ issued: 4 });
      const { notes } = JSON.parse(await readFile(result.reports.json, 'utf8')) as { notes: readonly string[] };
      expect(notes).toEqual([
        expect.stringMatching(/^Alert: 1 webhook with a right signature could not be read/),
        expect.stringMatching(/^Alert: 1 webhook since this batch began told of invoices that nobody here knows/),
      ]);
      expect(await readFile(result.reports.html, 'utf8')).toContain('could not be read since this batch began');
      await expectAgreement(stack, result.batchId);
    });
  });
});

describe('a secret in WEBHOOK_SECRET_FILE', { concurrent: true }, () => {
  it('is replaced without a restart: both for a while, then the new one alone', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'lote-secret-'));
    const file = join(directory, 'secret');
    await writeFile(file, 'old-secret\n');
    try {
      await withStack({ webhooks: 'none', env: { WEBHOOK_SECRET_FILE: file } }, async (stack) => {
        const event = (id: number): string => `{"id":"evt_${id}","type":"merchant.renamed"}`;
        const before = [await deliver(stack, event(1), 'old-secret'), await deliver(stack, event(2), 'new-secret')];
        await writeFile(file, 'new-secret,old-secret\n');
        await until(async () => (await deliver(stack, event(3), 'new-secret')) === 204);
        const both = await deliver(stack, event(4), 'old-secret');
        await writeFile(file, 'new-secret\n');
        await until(async () => (await deliver(stack, event(5), 'old-secret')) === 401);

        expect(before).toEqual([204, 401]);
        expect(both).toBe(204);
        expect(await deliver(stack, event(6), 'new-secret')).toBe(204);
      });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
