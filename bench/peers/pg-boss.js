// Two queues in PostgreSQL, `submit` and `settle`, both taken many jobs at a time; ids of jobs come from what they do, so that a second start adds nothing.
import { createHash } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import { batched, job, ordinals, postInvoice, receive, work } from './job.js';
import { openLedger } from './ledger.js';

const ENQUEUED_AT_ONCE = 1_000;
const POLL_SECONDS = 0.5;
const QUEUE = { expireInSeconds: 30, retryLimit: 20, retryDelay: 1, notify: true };
const POLLING = {
  pollingIntervalSeconds: POLL_SECONDS,
  notifyPollingIntervalSeconds: POLL_SECONDS,
  burstWhenBatchFull: true,
  perJobResults: true,
};

const ledger = await openLedger();
const boss = new PgBoss({ connectionString: job.storeUrl, max: 10, useListenNotify: true });
boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
await boss.start();
for (const name of ['submit', 'settle']) await boss.createQueue(name, QUEUE);

await boss.work('submit', { ...POLLING, localConcurrency: 4, batchSize: job.connections / 4 }, (jobs) =>
  Promise.all(jobs.map(submit)),
);
await boss.work('settle', { ...POLLING, localConcurrency: 1, batchSize: 200 }, async (jobs) => {
  const known = await ledger.settle(jobs.map(({ data }) => data.id));
  // The answer of a POST that is not kept yet: tried again.
  return jobs.map(({ id, data }) => ({ id, status: known.has(data.id) ? 'completed' : 'failed' }));
});

async function submit({ id, data }) {
  try {
    await ledger.keep({ ordinal: data.ordinal, id: await postInvoice(data.ordinal) });
    return { id, status: 'completed' };
  } catch (error) {
    return { id, status: 'failed', output: { message: error.message } };
  }
}

/** An id in the form that the queue wants. */
function jobId(text) {
  const hash = createHash('sha256').update(text).digest('hex');
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
}

await receive(
  batched(
    (ids) =>
      boss
        .insert(
          'settle',
          ids.map((id) => ({ id: jobId(id), data: { id } })),
        )
        .then(() => undefined),
    500,
  ),
);
await work(async () => {
  for (let at = 0; at < ordinals.length; at += ENQUEUED_AT_ONCE) {
    const some = ordinals.slice(at, at + ENQUEUED_AT_ONCE);
    await boss.insert(
      'submit',
      some.map((ordinal) => ({ id: jobId(`${job.batch}-${ordinal}`), data: { ordinal } })),
    );
  }
}, ledger.countSettled);
