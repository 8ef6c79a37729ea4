// Entry of the worker thread in a checkout: Node 20 gives a worker no loader of its parent.
import { register } from 'tsx/esm/api';

register();
await import('./pglite-thread.ts');
