import { decideConversion } from '../decide-conversion.ts';
import { parseReadAs } from '../../domain/read-as.ts';
import { Damage } from '../encoding/damage.ts';
import { DecimalEvidence } from '../csv/decimal-evidence.ts';
import { JsonReader } from './json-reader.ts';
import { JsonRows } from './json-rows.ts';
import { JSON_PATHS } from './json-shape.ts';
import type { Read, Reading } from '../reading.ts';
import { shorten } from '../invoice/shorten.ts';

/**
 * Reads a JSON or NDJSON file into rows.
 * @throws Refusal for broken, truncated, duplicate-key or hostile JSON
 */
export async function readJson(reading: Reading): Promise<Read> {
  const reader = new JsonReader();
  const damage = new Damage();
  const evidence = {
    quantity: new DecimalEvidence(JSON_PATHS.quantity),
    unit_price: new DecimalEvidence(JSON_PATHS.unit_price),
  };
  const rows = new JsonRows({ reading, damage, evidence });
  for await (const chunk of reading.chunks()) {
    for (const record of reader.write(chunk)) rows.take(record);
    await reading.writer.drain();
  }
  for (const record of reader.end()) rows.take(record);
  await reading.writer.flush();
  const { conversion, proof } = decideConversion(
    {
      ...{ format: reader.format, labels: JSON_PATHS, lostReferences: {}, evidence, damage },
      readAs: parseReadAs(rows.readAs ?? ''),
    },
    reading.options,
  );
  const ignored = [...reader.otherMembers.map((name) => shorten(name, 60)), ...rows.ignored];
  if (ignored.length > 0) {
    const message = `These members are not part of an invoice and are not sent: ${ignored.map((name) => `"${name}"`).join(', ')}`;
    reading.findings.add({ row: null, column: null, code: 'columns-ignored', message, severity: 'info' });
  }
  return {
    dialect: {
      format: reader.format,
      delimiter: null,
      lineEnd: null,
      headerRow: null,
      header: [],
      own: rows.own,
      frame: reader.frame,
    },
    conversion,
    proof: { ignored, ...proof },
  };
}
