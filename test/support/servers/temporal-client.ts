import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, inject } from 'vitest';

/** Connects to the run's Temporal server for the tests of a file; call it outside of a test. The results are for inside the tests. */
export function temporalClient(): { client(): Client; connection(): Connection } {
  let connection: Connection;
  beforeAll(async () => {
    connection = await Connection.connect({ address: inject('temporalAddress') });
  });
  afterAll(() => connection.close());
  return { client: () => new Client({ connection }), connection: () => connection };
}
