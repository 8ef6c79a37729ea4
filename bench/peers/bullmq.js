// Two queues in Redis, `submit` and `settle`; hashes beside them hold whose invoice an id is, and what is settled.
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { batched, job, ordinals, postInvoice, receive, work } from './job.js';

const ENQUEUED_AT_ONCE = 1_000;
const { hostname: host, port } = new URL(job.storeUrl);
const connection = { host, port: Number(port), maxRetriesPerRequest: null };
const redis = new Redis({ ...connection, enableAutoPipelining: true });
const [ids, settled] = [`${job.batch}-ids`, `${job.batch}-settled`];
const submit = new Queue('submit', { connection });
const settle = new Queue('settle', { connection });
const options = { connection, concurrency: job.connections };
// Completed jobs stay: their ids keep a second enqueue from running them again.
const keep = { removeOnComplete: false, backoff: { type: 'fixed', delay: 250 } };

const workers = [
  new Worker(
    'submit',
    async ({ data }) => {
      await redis.hset(ids, await postInvoice(data.ordinal), data.ordinal);
    },
    options,
  ),
  new Worker(
    'settle',
    async ({ data }) => {
      const ordinal = await redis.hget(ids, data.id);
      // Tried again.
      if (ordinal === null) throw new Error('the webhook came before the answer');
      await redis.hset(settled, ordinal, data.id);
    },
    options,
  ),
];
for (const worker of workers) worker.on('error', (error) => process.stderr.write(`bullmq: ${error.message}\n`));

await receive(
  batched(async (some) => {
    await settle.addBulk(
      some.map((id) => ({ name: 'settle', data: { id }, opts: { ...keep, jobId: id, attempts: 240 } })),
    );
  }, 200),
);
await work(
  async () => {
    for (let at = 0; at < ordinals.length; at += ENQUEUED_AT_ONCE) {
      const some = ordinals.slice(at, at + ENQUEUED_AT_ONCE);
      await submit.addBulk(
        some.map((ordinal) => ({
          name: 'submit',
          data: { ordinal },
          opts: { ...keep, jobId: `${job.batch}-${ordinal}`, attempts: 10 },
        })),
      );
    }
  },
  () => redis.hlen(settled),
);
