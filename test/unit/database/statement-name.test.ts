import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { statementName } from '../../../src/database/open-postgres-database.ts';

const LEDGER = fileURLToPath(new URL('../../../src/ledger/', import.meta.url));
/** PostgreSQL cuts a longer identifier off, and two statements could share what is left. */
const LONGEST_IDENTIFIER = 63;

describe('statementName', () => {
  it('is that of the statement, and the same each time', () => {
    const text = '/* find-batch */ SELECT 1';

    expect(statementName(text)).toMatch(/^find-batch-[0-9a-f]{12}$/);
    expect(statementName(text)).toBe(statementName(text));
  });

  it('differs for two texts of one name', () => {
    expect(statementName('/* one */ SELECT 1')).not.toBe(statementName('/* one */ SELECT 2'));
  });

  it.each(['SELECT 1', 'BEGIN', ' /* one */ SELECT 1', '/* One word */ SELECT 1', '-- one\nSELECT 1', ''])(
    'is none for %j, which is no statement of the ledger',
    (text) => {
      expect(statementName(text)).toBeNull();
    },
  );

  it('fits into an identifier for every statement of the ledger', () => {
    const files = readdirSync(LEDGER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const names = files.flatMap((file) =>
      [...readFileSync(`${LEDGER}/${file}`, 'utf8').matchAll(/`(\/\* [a-z0-9-]+ \*\/)/gu)].map(
        ([, comment]) => comment,
      ),
    );

    expect(names.length).toBeGreaterThan(30);
    for (const name of names) expect(statementName(`${name} SELECT 1`)?.length).toBeLessThanOrEqual(LONGEST_IDENTIFIER);
  });
});
