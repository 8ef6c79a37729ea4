import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/app/config/config.ts';
import { EnvSchema } from '../../../src/app/config/env-schema.ts';
import { SECRET_VARIABLES } from '../../../src/app/config/environment.ts';
import { pageText, tableAfter } from '../../support/lote/readme.ts';

const SOURCE = fileURLToPath(new URL('../../../src/', import.meta.url));
/** The system's own; they are no settings of Lote. */
const OF_THE_SYSTEM = new Set(['PATH', 'XDG_CACHE_HOME', 'TERM']);

const PAGE = pageText('docs/configuration.md');

interface Row {
  readonly name: string;
  readonly shown: string;
  readonly meaning: string;
}

const rows: readonly Row[] = tableAfter(PAGE, '## Environment').map(([name = '', shown = '', meaning = '']) => ({
  name: name.replaceAll('`', ''),
  shown,
  meaning,
}));

/** Variables that the code reads past the schema. */
function readElsewhere(): readonly string[] {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const names = files.flatMap((file) =>
    [...readFileSync(join(SOURCE, file), 'utf8').matchAll(/\benv\['([A-Z_]+)'\]/gu)].map(([, name]) => name ?? ''),
  );
  return [...new Set(names)].filter((name) => !OF_THE_SYSTEM.has(name));
}

/** What the schema writes for an absent variable, as it would be written; null: it writes nothing. */
function defaultOf(name: keyof typeof EnvSchema.shape): string | null {
  const { def } = EnvSchema.shape[name];
  return 'defaultValue' in def ? String(def.defaultValue) : null;
}

describe('the environment table of docs/configuration.md', () => {
  it('has each variable that the code reads, once, and no other', () => {
    const known = [...Object.keys(EnvSchema.shape), ...readElsewhere()];

    expect(rows.map(({ name }) => name).toSorted()).toEqual([...new Set(known)].toSorted());
  });

  it('says of each variable what it means', () => {
    expect(rows.filter(({ meaning, shown }) => meaning.length < 10 || shown === '').map(({ name }) => name)).toEqual(
      [],
    );
  });

  it.each(Object.keys(EnvSchema.shape) as (keyof typeof EnvSchema.shape)[])('gives the default of %s', (name) => {
    const { receiver, health, console: web, sandbox } = readConfig({});
    const ports: Readonly<Record<string, string>> = Object.fromEntries(
      [receiver, health, web, sandbox].flatMap((place) =>
        place === null ? [] : [[place.variable, String(place.port)]],
      ),
    );
    const value = defaultOf(name) ?? ports[name];
    const shown = rows.find((row) => row.name === name)?.shown ?? '';

    if (value === undefined) expect(shown).not.toMatch(/^`/u);
    else expect(shown).toBe(`\`${value}\``);
  });

  it('names each secret that may come from a file', () => {
    const text = PAGE.split('## Environment')[1]?.split('|')[0] ?? '';

    for (const name of SECRET_VARIABLES) expect(text).toContain(`\`${name}\``);
  });
});
