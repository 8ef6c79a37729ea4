import { writeFileSync } from 'node:fs';
import { dataFlow } from './data-flow.ts';
import { folderMap } from './folder-map.ts';

// `npm run picture`
writeFileSync(new URL('data-flow.svg', import.meta.url), dataFlow());
writeFileSync(new URL('folders.svg', import.meta.url), folderMap());
