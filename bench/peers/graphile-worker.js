// Two tasks in PostgreSQL: `submit` an invoice, `settle` it. One transaction enqueues the file with a marker, so that a second start adds nothing.
import { Logger, run, runMigrations } from 'graphile-worker';
import { batched, job, ordinals, postInvoice, receive, work } from './job.js';
import { openLedger } from './ledger.js';

const ENQUEUE_FILE = `
  with mine as (insert into batches values ($1) on conflict do nothing returning 1)
  select graphile_worker.add_jobs(array(
    select json_populate_record(null::graphile_worker.job_spec,
      json_build_object('identifier', 'submit', 'payload', json_build_object('ordinal', ordinal)))
    from unnest($2::int[]) as ordinal))
  where exists (select from mine)`;
const ENQUEUE_EVENTS = `
  select graphile_worker.add_jobs(array(
    select json_populate_record(null::graphile_worker.job_spec,
      json_build_object('identifier', 'settle', 'payload', json_build_object('id', id)))
    from unnest($1::text[]) as id))`;

const ledger = await openLedger();
await runMigrations({ connectionString: job.storeUrl });
await ledger.pool.query('create table if not exists batches (id text primary key)');
const settle = batched(async (ids) => {
  const known = await ledger.settle(ids);
  return ids.map((id) => known.has(id));
});

await run({
  noHandleSignals: true,
  taskList: {
    submit: async ({ ordinal }) => ledger.keep({ ordinal, id: await postInvoice(ordinal) }),
    settle: async ({ id }) => {
      // The answer of the POST is not kept yet: tried again.
      if (!(await settle(id))) throw new Error('the webhook came before the answer');
    },
  },
  preset: {
    worker: {
      connectionString: job.storeUrl,
      concurrentJobs: job.connections,
      maxPoolSize: 12,
      pollInterval: 500,
      // Its fastest settings: jobs are fetched, and their ends are written, many at a time.
      localQueue: { size: 500, refetchDelay: { durationMs: 20, threshold: 0, maxAbortThreshold: 50 } },
      completeJobBatchDelay: 5,
      failJobBatchDelay: 5,
      logger: new Logger(() => () => undefined),
    },
  },
});

await receive(batched((ids) => ledger.pool.query(ENQUEUE_EVENTS, [ids]).then(() => undefined), 500));
await work(() => ledger.pool.query(ENQUEUE_FILE, [job.batch, ordinals]), ledger.countSettled);
