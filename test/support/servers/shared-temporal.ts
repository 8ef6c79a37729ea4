import { inject } from 'vitest';
import { ownName } from '../files/batch-file.ts';

/**
 * Lets a started Lote use the run's one Temporal server, under a name of its own: a server of its own takes a second of computing for each start. For tests
 * whose subject is not the server.
 */
export function sharedTemporal(): Record<string, string> {
  const name = ownName('shared');
  return { TEMPORAL_ADDRESS: inject('temporalAddress'), LOTE_TASK_QUEUE: name, LOTE_APPLICATION: name };
}
