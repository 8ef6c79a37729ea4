import type { Client } from '@temporalio/client';
import { repeat, type Repetition } from '../../concurrency/repeat.ts';

const ASK_EVERY_MS = 5_000;
const PATIENCE_MS = 3_000;

interface WatchLog {
  warn(message: string, fields?: Record<string, unknown>): void;
}

/** One question to the server, without the SDK's own patience. @throws whatever the connection says */
export async function queryTemporal(client: Client): Promise<void> {
  await client.connection.withDeadline(Date.now() + PATIENCE_MS, () => client.workflowService.getSystemInfo({}));
}

/** Says once when Temporal goes away and once when it is back: the SDK's own lines repeat for each call. */
export function watchTemporal(client: Client, address: string, log: WatchLog): Repetition {
  let awaySince: number | null = null;
  return repeat(ASK_EVERY_MS, async (stopped) => {
    const answers = await queryTemporal(client).then(
      () => true,
      () => false,
    );
    if (stopped.aborted) return;
    if (!answers && awaySince === null) {
      awaySince = Date.now();
      log.warn('temporal does not answer; work stands still until it does', { address });
    }
    if (answers && awaySince !== null) {
      log.warn('temporal answers again', { address, awaySeconds: Math.round((Date.now() - awaySince) / 1_000) });
      awaySince = null;
    }
  });
}
