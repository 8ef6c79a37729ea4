import { expect, it } from 'vitest';
import { COLUMNS, REQUIRED_COLUMNS } from '../../../src/domain/row.ts';

it('a CSV file may leave out the details of merchants and the tax number of the buyer, and no other column', () => {
  const optional = COLUMNS.filter((column) => !REQUIRED_COLUMNS.includes(column));

  expect(optional).toEqual(['merchant_legal_name', 'merchant_email', 'customer_tax_id']);
  expect(COLUMNS.filter((column) => REQUIRED_COLUMNS.includes(column))).toEqual(REQUIRED_COLUMNS);
});
