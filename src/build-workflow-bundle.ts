import { fileURLToPath } from 'node:url';
import { bundleWorkflows, writeBundle } from './app/worker/workflow-bundle.ts';

// The last step of `npm run build`, so that an image starts without bundling anything, whatever user it runs under.
const compiled = new URL('../', import.meta.url);
const code = await bundleWorkflows(fileURLToPath(new URL('workflows/index.js', compiled)));
await writeBundle(fileURLToPath(new URL('workflow-bundle.js', compiled)), code);
