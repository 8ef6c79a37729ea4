// Loaded before Lote (node --import) by tests that end or stop a process at a named step: CRASH_AT says where.
import { isMainThread } from 'node:worker_threads';
import { tsImport } from 'tsx/esm/api';

if (isMainThread) await tsImport('./install-crash-points.ts', import.meta.url);
