import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { testInvoices } from '../../support/files/batch-file.ts';
import { withStack, type TestStack } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';

const PER_SECOND = 3;
/** What leaves in the 24 s for which the SDK keeps heartbeats back unless told otherwise. */
const UNTIL_A_LATE_HEARTBEAT = 24 * PER_SECOND;
/** Longer than from one POST to the next. */
const QUIET_MS = 4_000;

/** When nothing has left for a while. */
async function untilQuiet(stack: TestStack): Promise<void> {
  for (let posts = -1; posts !== stack.posts().length;) {
    posts = stack.posts().length;
    // oxlint-disable-next-line no-await-in-loop -- it waits for what does not come
    await sleep(QUIET_MS);
  }
}

describe('the run of a batch that is terminated', () => {
  it('stops sending with the next heartbeat of its slice', async () => {
    await withStack({ profile: { limits: { requestsPerSecond: PER_SECOND } } }, async (stack) => {
      await stack.drop('wrong.csv', testInvoices(150));
      const { handle } = await stack.start({ file: 'wrong.csv' });
      // The first heartbeat of a slice is never kept back.
      await until(() => stack.posts().length > 6 * PER_SECOND);

      await handle.terminate('the wrong file');
      const before = stack.posts().length;
      await untilQuiet(stack);

      expect(stack.posts().length - before).toBeLessThan(UNTIL_A_LATE_HEARTBEAT / 2);
    });
  });
});
