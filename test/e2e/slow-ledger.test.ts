import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { testFleet } from '../support/lote/fleet.ts';
import { tcpProxy } from '../support/servers/proxies.ts';
import { until } from '../support/until.ts';

const SLOW_MS = 700;
/** At this pace all of them take far longer than a pause. */
const INVOICES = 150;
const PER_SECOND = 5;
const FEW = 5;

describe.skipIf(inject('postgresUrl') === null)(`a PostgreSQL ledger that takes ${SLOW_MS} ms for each answer`, () => {
  it('lets a batch send, says so, and lets a pause stop it', async () => {
    const direct = new URL(inject('postgresUrl') ?? '');
    const proxy = await tcpProxy(`${direct.hostname}:${direct.port}`);
    onTestFinished(() => proxy.cut());
    const slow = new URL(direct);
    slow.host = proxy.address;
    const fleet = await testFleet({
      ...{ roles: ['receiver', 'worker'], isProved: true, postgresUrl: slow.href },
      profile: { limits: { requestsPerSecond: PER_SECOND } },
    });
    proxy.delayAnswers(SLOW_MS);
    const batch = await fleet.startFile('slow.csv', INVOICES);
    const handle = fleet.client.workflow.getHandle(batch.workflowId);
    await until(() => fleet.postTimes().length >= FEW);

    await handle.executeUpdate('pause', { args: [{ reason: 'the test' }] });
    const progress = await handle.query<{ readonly paused: boolean; readonly waitingFor: string | null }>('progress');
    await handle.executeUpdate('cancelRemaining', { args: [{ reason: 'the test' }] });
    proxy.delayAnswers(0);
    const result = await batch.result();

    expect(progress.paused).toBe(true);
    await fleet.parts[1]?.said('a pause or cancel may take longer than a second');
    const sent = fleet.postTimes().length;
    expect(sent).toBeGreaterThanOrEqual(FEW);
    expect(result.counts).toMatchObject({ invoices: INVOICES, held: INVOICES - sent });
    expect(fleet.sandbox.books()).toMatchObject({ duplicates: [], totals: { invoices: sent } });
  });
});
