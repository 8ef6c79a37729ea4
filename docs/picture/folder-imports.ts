import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** One folder imports another. `typesOnly`: every such import is `import type`. */
export interface FolderImport {
  readonly from: string;
  readonly to: string;
  readonly typesOnly: boolean;
}

/** What this file uses of dependency-cruiser's JSON. */
interface Cruise {
  readonly modules: readonly {
    readonly source: string;
    readonly dependencies: readonly { readonly resolved: string; readonly dependencyTypes: readonly string[] }[];
  }[];
}

/** The files of `src` itself; they start a process or a build. */
export const ENTRY_POINTS = 'entry points';
const PRODUCT = ['src', 'workflows', 'activities'] as const;
const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));
/** The package exports its functions but not its command line, which reads the configuration by itself. */
const CRUISER = fileURLToPath(
  new URL('../../node_modules/dependency-cruiser/bin/dependency-cruise.mjs', import.meta.url),
);
/** The JSON of all files; Node's default of 1 MB is too small. */
const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024;

/** Imports between the folders of the product, sorted; read by dependency-cruiser with the project's own configuration. */
export function folderImports(): readonly FolderImport[] {
  const options = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...PRODUCT];
  const json = execFileSync(process.execPath, [CRUISER, ...options], {
    cwd: CHECKOUT,
    encoding: 'utf8',
    maxBuffer: OUTPUT_LIMIT_BYTES,
  });
  return merged(JSON.parse(json) as Cruise);
}

function merged({ modules }: Cruise): readonly FolderImport[] {
  const found = new Map<string, FolderImport>();
  for (const { source, dependencies } of modules)
    for (const { resolved, dependencyTypes } of dependencies) {
      const [from, to] = [folderOf(source), folderOf(resolved)];
      if (from === null || to === null || from === to) continue;
      const typesOnly = dependencyTypes.includes('type-only') && found.get(`${from} ${to}`)?.typesOnly !== false;
      found.set(`${from} ${to}`, { from, to, typesOnly });
    }
  return [...found.values()].toSorted((a, b) => `${a.from} ${a.to}`.localeCompare(`${b.from} ${b.to}`, 'en'));
}

/** `src/ledger/batches/batches.ts` is in `ledger`; null: no folder of the product. */
function folderOf(file: string): string | null {
  const [top, second, third] = file.split('/');
  if (!PRODUCT.some((folder) => folder === top)) return null;
  if (top !== 'src') return `${top}/`;
  return third === undefined ? ENTRY_POINTS : (second ?? null);
}
