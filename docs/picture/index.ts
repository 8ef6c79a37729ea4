import { writeFileSync } from 'node:fs';
import { dataFlow } from './data-flow.ts';

// `npm run picture`
writeFileSync(new URL('data-flow.svg', import.meta.url), dataFlow());
