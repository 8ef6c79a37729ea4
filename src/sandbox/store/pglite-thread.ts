import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import type { PgliteReply, PgliteRequest } from './pglite-messages.ts';

// Runs in a thread of its own: in the main thread PGlite keeps every timer and socket of the process waiting.
const directory: unknown = workerData;
const port = parentPort;
if (typeof directory !== 'string' || port === null) throw new Error('This file is a worker thread of pgliteStore.');

const database = await PGlite.create(directory);

async function run(request: PgliteRequest): Promise<PgliteReply> {
  try {
    if (request.kind === 'close') {
      await database.close();
      return { id: request.id, ok: true, rows: [] };
    }
    if (request.kind === 'query') {
      const { text, values } = request.statement;
      const { rows } = await database.query<Record<string, unknown>>(text, [...values]);
      return { id: request.id, ok: true, rows };
    }
    await database.transaction(async (transaction) => {
      for (const { text, values } of request.statements) await transaction.query(text, [...values]);
    });
    return { id: request.id, ok: true, rows: [] };
  } catch (error) {
    return { id: request.id, ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

port.on('message', (request: PgliteRequest) => {
  void run(request).then((reply) => {
    port.postMessage(reply);
    if (request.kind === 'close') port.close();
  });
});
