import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ingested } from './ingested.ts';

const SAMPLE = fileURLToPath(new URL('../../../input/sample.csv', import.meta.url));

it('input/sample.csv has about 200 invoices, six of them wrong in six ways, and eight that the sandbox fails', async () => {
  const { result, invoices } = await ingested(SAMPLE);
  const valid = invoices.flatMap((one) => (one.ok ? [one.invoice] : []));
  const wrong = invoices.filter((one) => !one.ok);

  expect(result).toMatchObject({ ok: true, rowsWithoutInvoice: 0, findings: [] });
  expect(invoices).toHaveLength(200);
  expect(new Set(valid.map(({ merchant }) => merchant.nif)).size).toBe(5);
  const codes = wrong.flatMap(({ findings }) => findings.map(({ code }) => code));
  expect(codes.sort().join(' ')).toBe(
    'currency-missing customer-name-missing description-missing quantity-unreadable tax-code-missing unit-price-unreadable',
  );
  expect(valid.filter(({ lines }) => lines.some(({ taxCode }) => taxCode === 'IVA_99'))).toHaveLength(8);
  const isScattered = ({ rows }: (typeof invoices)[number]) => (rows.at(-1) ?? 0) - (rows[0] ?? 0) >= rows.length;
  expect(invoices.some(isScattered)).toBe(true);
});
